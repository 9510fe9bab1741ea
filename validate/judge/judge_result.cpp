// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/judge_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "validate/judge/compare.hpp"
#include "validate/judge/declared.hpp"
#include "validate/judge/pattern.hpp"
#include "validate/judge/tiers.hpp"
#include "validate/problem/composite.hpp"
#include "validate/problem/numerics_text.hpp"
#include "validate/records/policy.hpp"
#include "validate/records/policy_figures.hpp"
#include "validate/tasks/loaded.hpp"
#include "validate/values/tensor_bits.hpp"

namespace assay {

namespace {

// The record of a kernel on a task, with nothing judged yet.
Record blank_record(const Task& task, const Kernel& kernel, const JudgeOptions& options) {
  Record r;
  r.kernel = kernel.name;
  r.backend = options.backend;
  r.numerics = text_of(kernel.numerics);
  if (!kernel.declares_numerics) r.held_to = kHeldTo;
  if (kernel.loaded) r.loaded = kernel.loaded->flags, r.not_checked = kernel.loaded->not_checked, r.code = kernel.code;
  r.c = task.c;
  r.multi_tile_ragged = multi_tile_ragged(kernel, task.c);
  r.repro = repro(task.c, task.op->shape(), kernel.name);
  return r;
}

std::vector<std::int64_t> decoded(const Tensor& t, std::int64_t linear) {
  std::vector<std::int64_t> index(static_cast<std::size_t>(t.rank));
  for (int a = t.rank - 1; a >= 0; --a) {
    index[static_cast<std::size_t>(a)] = linear % t.shape[a];
    linear /= t.shape[a];
  }
  return index;
}

// Whether the reason is a finding that only the watch makes.  A finding begins with its kind.
bool found_by_watch(std::string_view reason) {
  constexpr std::string_view kKinds[] = {"shared_race:", "global_race:", "uninitialised:", "unwritten:", "plain_access:"};
  return std::any_of(std::begin(kKinds), std::end(kKinds), [&](std::string_view kind) { return reason.starts_with(kind); });
}

// The problem that the outputs of one run are judged by; see judged_by().
class Judged {
 public:
  Judged(const WorkerResult& result, int run) {
    const Prepared& p = *result.of;
    const std::vector<TensorSpec>& specs = p.task->op->tensors;
    std::vector<std::byte*> images;
    for (std::size_t i = 0; i < specs.size(); ++i)
      images.push_back(specs[i].role == Role::output
                           ? result.outputs.data() + static_cast<std::size_t>(run) * p.packing.output_bytes + p.packing.at[i]
                           : p.inputs.data() + p.packing.given[i]);
    problem_ = &judged_by(*p.task->op, p.task->c, p.packing.placements, images, *p.problem, own_);
  }
  const Problem& operator*() const { return *problem_; }

 private:
  std::unique_ptr<Problem> own_;
  const Problem* problem_;
};

// Adds the policies' figures of the first run.
void ask_policies(const WorkerResult& result, Record& r) {
  const Prepared& p = *result.of;
  const Judged problem(result, 0);
  for (std::size_t i = 0; i < p.task->op->tensors.size(); ++i) {
    if (p.task->op->tensors[i].role != Role::output) continue;
    Tensor got = p.packing.placements[i].tensor;
    got.data = result.outputs.data() + p.packing.at[i];
    r.policy_figures.push_back(policy_figures(*problem, static_cast<int>(r.policy_figures.size()), got));
  }
}

// A graph replay on changed inputs must give the bits of a direct launch on them.  It does not if the kernel reads inputs at
// capture time, works on another stream or keeps an earlier result.  Returns what is wrong; empty if nothing is.
std::string judge_replay(const WorkerResult& result) {
  const Prepared& p = *result.of;
  constexpr std::size_t kReplayed = kRuns, kDirect = kRuns + 1;
  if (result.reply.ran <= kDirect) return {};
  for (std::size_t i = 0; i < p.task->op->tensors.size(); ++i) {
    if (p.task->op->tensors[i].role != Role::output) continue;
    Tensor replayed = p.packing.placements[i].tensor, direct = replayed;
    replayed.data = result.outputs.data() + kReplayed * p.packing.output_bytes + p.packing.at[i];
    direct.data = result.outputs.data() + kDirect * p.packing.output_bytes + p.packing.at[i];
    if (!same_elements(direct, replayed))
      return fmt::format("graph replay on changed inputs gives another '{}' than a direct launch", p.task->op->tensors[i].name);
  }
  return {};
}

// Judges the outputs of both runs and fills in the verdict and its reason.
class OutputJudge {
 public:
  OutputJudge(const WorkerResult& result, Record& record)
      : result_(result),
        p_(*result.of),
        op_(*p_.task->op),
        numerics_(result.kernel->numerics),
        exact_(p_.asks_exact(numerics_)),
        problem_(result, 0),
        r_(record) {
    for (std::size_t i = 0; i < op_.tensors.size(); ++i)
      if (op_.tensors[i].role == Role::output) outputs_.push_back(output_of(i));
  }

  void run() {
    for (const Output& y : outputs_) judge_output(y);
    if (r_.verdict != Verdict::passed) return;
    std::string why = judge_relations(p_, *result_.kernel, result_.outputs.data(), result_.related, r_);
    if (!why.empty()) return fail(Tier::T3, std::move(why));
    judge_power();
  }

  // err/bound of the first run with other numerics; infinite if an output fails.
  double margin(const Numerics& numerics) const {
    double most = 0;
    for (const Output& y : outputs_) {
      const Comparison c = compare(*problem_, numerics, y.number, y.runs[0], p_.asks_exact(numerics));
      if (c.wrong) return HUGE_VAL;
      most = std::max(most, c.margin);
    }
    return most;
  }

 private:
  struct Output {
    std::size_t tensor;
    int number;  // index among the outputs
    Tensor runs[kRuns];
  };

  void fail(Tier tier, std::string reason) {
    r_.caught(tier);
    if (r_.verdict == Verdict::passed) r_.verdict = Verdict::failed, r_.reason = std::move(reason);
  }
  const TensorSpec& spec(const Output& y) const { return op_.tensors[y.tensor]; }

  Output output_of(std::size_t tensor) const {
    Output y{.tensor = tensor, .number = static_cast<int>(outputs_.size()), .runs = {}};
    for (std::size_t k = 0; k < kRuns; ++k) {
      y.runs[k] = p_.packing.placements[tensor].tensor;
      y.runs[k].data = result_.outputs.data() + k * p_.packing.output_bytes + p_.packing.at[tensor];
    }
    return y;
  }

  void judge_output(const Output& y) {
    const Comparison c = compare(*problem_, numerics_, y.number, y.runs[0], exact_);
    judge_elements(y, c);
    if (c.wrong == 0)
      if (std::string why = judge_together(*result_.of, *problem_, numerics_, y.runs[0], y.number, r_); !why.empty())
        fail(Tier::T2, std::move(why));
    r_.digest = digest(y.runs[0], r_.digest.value_or(0));
    if (y.number == 0 && !p_.problem->end_to_end().empty()) r_.end_to_end = end_to_end_error(*p_.problem, y.runs[0]);
    if (y.number == 0) sweep(y);
    judge_second_run(y);
    judge_gaps(y);
  }

  // T0 and T1: every element against its bound, or against the exact answer.
  void judge_elements(const Output& y, const Comparison& c) {
    r_.compared += c.compared, r_.wrong += c.wrong;
    r_.max_abs_error = std::max(r_.max_abs_error, c.error);
    powerless_ = powerless_ && c.powerless, zeros_ = zeros_ && c.zeros;
    if (Numerics wide = numerics_; c.powerless && powerless_in_f32_) {
      wide.accumulate = f32, wide.factors = {}, wide.fused_exponent = wide.running_moments = wide.flushes_storage = false;
      powerless_in_f32_ = wide == numerics_ || compare(*problem_, wide, y.number, y.runs[0], exact_).powerless;
    }
    if (op_.composite && c.compared) r_.stages[std::string(spec(y).name)] = c.margin;
    const Frame frame = frame_of(spec(y), *result_.kernel, p_.task->c.dtype);
    if (c.worst >= 0 && (!r_.margin || c.margin > *r_.margin)) {
      r_.margin = c.margin;
      r_.worst = Record::Worst{std::string(spec(y).name), decoded(y.runs[0], c.worst), c.got, c.golden, c.bound};
      if (c.wrong) r_.worst->tile = tile_text(frame, p_.task->c.dims, r_.worst->index);
    }
    if (!c.wrong) return;
    const Pattern found = pattern(*problem_, numerics_, y.number, y.runs[0], exact_, frame);
    r_.pattern += (r_.pattern.empty() ? "" : "; ") + (outputs_.size() > 1 ? std::string(spec(y).name) + ": " : "") + found.text;
    if (r_.reads_like.empty()) r_.reads_like = found.reads_like;
    fail(exact_ ? Tier::T0 : Tier::T1,
         (op_.composite ? fmt::format("stage '{}': ", spec(y).name) : "") +
             (exact_ ? "differs where the answer is exactly representable" : fmt::format("err/bound = {:.3g}", c.margin)));
  }

  // T1 if the golden is sampled: a cheaper check of all rows.
  void sweep(const Output& y) {
    if (p_.problem->rows().all() || !op_.hooks.sweep) return;
    r_.sweep_margin = op_.hooks.sweep(p_.problem->args(), numerics_, p_.problem->errors(), y.runs[0], p_.task->c.seed);
    if (!(*r_.sweep_margin <= 1))
      fail(Tier::T1, fmt::format("rows that were not sampled: err/bound = {:.3g} in a check of all", *r_.sweep_margin));
  }

  // T4: the second run must have the bits of the first, if the kernel is deterministic.  T1: it must be within its bound.
  void judge_second_run(const Output& y) {
    const bool same = same_elements(y.runs[0], y.runs[1]);
    r_.deterministic = r_.deterministic.value_or(true) && same;
    if (same) return;
    if (result_.kernel->deterministic)
      fail(Tier::T4,
           fmt::format("two runs of '{}' differ: it depends on what the buffer held, or on the order of threads", spec(y).name));
    if (compare(*Judged(result_, 1), numerics_, y.number, y.runs[1], exact_).wrong)
      fail(Tier::T1, fmt::format("'{}' is out of bounds in the second run", spec(y).name));
  }

  // T4: the gaps between rows must be untouched.
  void judge_gaps(const Output& y) {
    const bool in_place = lies_over(op_, p_.task->c, y.tensor).has_value();
    for (int k = 0; k < kRuns; ++k)
      if (!gaps_intact(y.runs[k], p_.packing.placements[y.tensor].bytes, in_place || is_given(spec(y)) ? kGapByte : kGarbage[k]))
        fail(Tier::T4, fmt::format("wrote between the rows of '{}'", spec(y).name));
  }

  // Whether the case could have failed a kernel.
  // Note: only a case of a dataset is suspect, since its author can replace it; a random one may cancel by chance.  A case that
  // would fail zeros of a kernel with sums in f32, whole factors, exponents in steps, moments in two passes and nothing flushed
  // is not at fault if this one declares others.  A kernel that declares more errors than it makes is found by power (power.hpp),
  // over a whole run.
  void judge_power() {
    if (r_.compared == 0) {
      r_.reason = "empty: nothing may be written, and nothing was";
    } else if (powerless_ && !from_dataset(p_.task->c)) {
      r_.reason = zeros_ ? "by chance every right value is a zero" : "by chance every right value is within its bound of zero";
    } else if (powerless_ && !powerless_in_f32_) {
      r_.reason = "every right value is within its bound of zero, which the declared numerics widen";
    } else if (powerless_) {
      r_.verdict = Verdict::suspect, r_.reason = "proves nothing: an output of zeros would pass";
      r_.caught(Tier::T2);
    }
  }

  const WorkerResult& result_;
  const Prepared& p_;
  const Op& op_;
  const Numerics& numerics_;
  const bool exact_;
  const Judged problem_;
  Record& r_;
  std::vector<Output> outputs_;
  bool powerless_ = true, zeros_ = true;
  bool powerless_in_f32_ = true;  // an output of zeros would pass without the words that may widen a bound beyond the values
};

}  // namespace

std::vector<OrderRun> runs_of(const Kernel& kernel, const Prepared& p, const JudgeOptions& options) {
  const std::uint64_t seed = p.task->c.seed;
  // The second run takes threads in reverse order for even seeds, shuffled for odd ones.
  const int other_order = 1 + static_cast<int>(seed & 1);
  std::vector<OrderRun> runs;
  for (int k = 0; k < kRuns; ++k)
    runs.push_back(
        {.how = {.order = k == 0 ? 0 : other_order, .seed = seed, .sectors = options.sectors && k == 0, .watch = options.watch},
         .garbage = kGarbage[k],
         .after = k == 0 && p.input_sets > 1 && !options.watch ? std::optional<std::size_t>(1) : std::nullopt,
         .keeps = k > 0 && !options.watch});
  if (p.input_sets > 1 && kernel.deterministic && options.backend == "cuda")
    for (const bool replayed : {true, false}) runs.push_back({.garbage = kGarbage[1], .inputs = 1, .replayed = replayed});
  return runs;
}

Verdict verdict_of(const Reply& reply) {
  switch (reply.status) {
    case Reply::Status::done: return Verdict::passed;
    case Reply::Status::unsupported: return Verdict::unsupported;
    case Reply::Status::skipped: return Verdict::skipped;
    case Reply::Status::failed: break;
  }
  return Verdict::failed;
}

Record skipped(const Task& task, const Kernel& kernel, const JudgeOptions& options, std::string why, bool incomplete) {
  Record r = blank_record(task, kernel, options);
  r.verdict = Verdict::skipped;
  r.incomplete = incomplete;
  r.reason = std::move(why);
  return r;
}

Record judge_result(const WorkerResult& result, const JudgeOptions& options) {
  const Task& task = *result.of->task;
  Record r = blank_record(task, *result.kernel, options);
  r.exact = result.of->asks_exact(result.kernel->numerics);
  r.verdict = result.verdict;
  r.reason = result.reply.message;
  r.incomplete = (r.verdict == Verdict::skipped && result.reply.tainted) || r.reason.starts_with(kNotWatchable);
  r.seconds = result.reply.seconds;
  r.traffic = result.reply.traffic;
  r.sites = result.reply.sites;
  r.cost = result.of->problem->cost();
  r.memory = result.of->needs.with_workspace(result.reply.workspace, options.backend).peak();
  r.rows_checked = result.of->problem->rows().sample;
  r.rows = result.of->problem->rows().total;
  if (r.verdict == Verdict::passed)
    if (std::string why = judge_replay(result); !why.empty()) r.verdict = Verdict::failed, r.reason = std::move(why);
  if (is_bad(r.verdict)) r.caught(found_by_watch(r.reason) ? Tier::watch : Tier::T4);
  r.call_failed = result.reply.tainted || r.reason.starts_with("bad_launch");
  if (options.policies && (result.verdict == Verdict::passed || result.reply.outputs)) ask_policies(result, r);
  if (r.verdict != Verdict::passed) return r;
  OutputJudge outputs(result, r);
  outputs.run();
  if (options.declared && r.verdict == Verdict::passed)
    options.declared->look(*result.kernel, r, [&](const Numerics& n) { return outputs.margin(n); });
  return r;
}

}  // namespace assay
