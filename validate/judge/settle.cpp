// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/settle.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "validate/judge/compare.hpp"
#include "validate/judge/pattern.hpp"
#include "validate/judge/policy_figures.hpp"
#include "validate/judge/tiers.hpp"
#include "validate/problem/composite.hpp"
#include "validate/records/policy.hpp"
#include "validate/values/tensor_bits.hpp"

namespace assay {

namespace {

// The record of a kernel on a task, with nothing judged yet.
Record blank_record(const Task& task, const Kernel& kernel, const JudgeOptions& options) {
  Record r;
  r.kernel = kernel.name;
  r.backend = options.backend;
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

// What only a machine that watches every access finds, by the kind that its findings begin with.
bool found_by_watch(std::string_view reason) {
  constexpr std::string_view kKinds[] = {"shared_race:", "global_race:", "uninitialised:", "unwritten:", "plain_access:"};
  return std::any_of(std::begin(kKinds), std::end(kKinds), [&](std::string_view kind) { return reason.starts_with(kind); });
}

// What the outputs of one run are judged by.
class Judged {
 public:
  Judged(const Result& result, int run) {
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

// What the rules in practice want to know of the first run.
void ask_policies(const Result& result, Record& r) {
  const Prepared& p = *result.of;
  const Judged problem(result, 0);
  for (std::size_t i = 0; i < p.task->op->tensors.size(); ++i) {
    if (p.task->op->tensors[i].role != Role::output) continue;
    Tensor got = p.packing.placements[i].tensor;
    got.data = result.outputs.data() + p.packing.at[i];
    r.policy_figures.push_back(policy_figures(*problem, static_cast<int>(r.policy_figures.size()), got));
  }
}

// A captured launch, replayed on changed inputs, must give what a direct launch gives on them: a kernel that reads its inputs at
// capture time, works on another stream or keeps an earlier result does not.  Returns what is wrong; empty: nothing.
std::string judge_replay(const Result& result) {
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

// Judges the outputs of both runs; fills in the verdict and its reason.
void judge_outputs(const Result& result, Record& r) {
  const Prepared& p = *result.of;
  const auto fail = [&](Tier tier, std::string reason) {
    r.caught(tier);
    if (r.verdict == Verdict::passed) r.verdict = Verdict::failed, r.reason = std::move(reason);
  };
  const auto is_output = [](const TensorSpec& t) { return t.role == Role::output; };
  const auto outputs = std::count_if(p.task->op->tensors.begin(), p.task->op->tensors.end(), is_output);
  const Judged problem(result, 0);
  bool powerless = true, zeros = true;
  int output = 0;
  for (std::size_t i = 0; i < p.task->op->tensors.size(); ++i) {
    const TensorSpec& spec = p.task->op->tensors[i];
    if (!is_output(spec)) continue;
    Tensor runs[kRuns];
    for (int k = 0; k < kRuns; ++k) {
      runs[k] = p.packing.placements[i].tensor;
      runs[k].data = result.outputs.data() + static_cast<std::size_t>(k) * p.packing.output_bytes + p.packing.at[i];
    }
    const Comparison c = compare(*problem, result.kernel->numerics, output, runs[0], p.exact);
    const Frame frame = frame_of(spec, *result.kernel, p.task->c.dtype);
    r.compared += c.compared, r.wrong += c.wrong;
    r.max_abs_error = std::max(r.max_abs_error, c.error);
    powerless = powerless && c.powerless, zeros = zeros && c.zeros;
    if (p.task->op->composite && c.compared) r.stages[std::string(spec.name)] = c.margin;
    if (c.worst >= 0 && (!r.margin || c.margin > *r.margin)) {
      r.margin = c.margin;
      r.worst = Record::Worst{std::string(spec.name), decoded(runs[0], c.worst), c.got, c.golden, c.bound};
      if (c.wrong) r.worst->tile = tile_text(frame, p.task->c.dims, r.worst->index);
    }
    if (c.wrong) {
      const Pattern found = pattern(*problem, result.kernel->numerics, output, runs[0], p.exact, frame);
      r.pattern += (r.pattern.empty() ? "" : "; ") + (outputs > 1 ? std::string(spec.name) + ": " : "") + found.text;
      if (r.reads_like.empty()) r.reads_like = found.reads_like;
      fail(p.exact ? Tier::T0 : Tier::T1,
           (p.task->op->composite ? fmt::format("stage '{}': ", spec.name) : "") +
               (p.exact ? "differs where the answer is exactly representable" : fmt::format("err/bound = {:.3g}", c.margin)));
    }
    if (output == 0 && c.wrong == 0)
      if (std::string why = judge_together(*result.of, *problem, result.kernel->numerics, runs[0], r); !why.empty())
        fail(Tier::T2, std::move(why));
    r.digest = digest(runs[0], r.digest.value_or(0));
    if (output == 0 && !p.problem->end_to_end().empty()) r.end_to_end = end_to_end_error(*p.problem, runs[0]);
    if (output == 0 && !p.problem->rows().all() && p.task->op->hooks.sweep) {
      r.sweep_margin =
          p.task->op->hooks.sweep(p.problem->args(), result.kernel->numerics, p.problem->errors(), runs[0], p.task->c.seed);
      if (!(*r.sweep_margin <= 1))
        fail(Tier::T1, fmt::format("rows that were not sampled: err/bound = {:.3g} in a check of all", *r.sweep_margin));
    }
    const bool same = same_elements(runs[0], runs[1]);
    r.deterministic = r.deterministic.value_or(true) && same;
    if (!same && result.kernel->deterministic)
      fail(Tier::T4,
           fmt::format("two runs of '{}' differ: it depends on what the buffer held, or on the order of threads", spec.name));
    if (!same && compare(*Judged(result, 1), result.kernel->numerics, output, runs[1], p.exact).wrong)
      fail(Tier::T1, fmt::format("'{}' is out of bounds in the second run", spec.name));
    const bool in_place = lies_over(*p.task->op, p.task->c, i).has_value();
    for (int k = 0; k < kRuns; ++k)
      if (!gaps_intact(runs[k], p.packing.placements[i].bytes, in_place || is_given(spec) ? kGapByte : kGarbage[k]))
        fail(Tier::T4, fmt::format("wrote between the rows of '{}'", spec.name));
    ++output;
  }
  if (r.verdict != Verdict::passed) return;
  if (std::string why = judge_relations(p, *result.kernel, result.outputs.data(), result.related, r); !why.empty())
    return fail(Tier::T3, std::move(why));
  if (r.compared == 0) {
    r.reason = "empty: nothing may be written, and nothing was";
  } else if (powerless && !from_dataset(p.task->c)) {
    // Note: a case of a dataset is to be replaced; nobody chose the shape and the numbers of a random one, whose terms may
    // cancel. That a kernel declares too much shows in power (power.hpp), which is judged over a run.
    r.reason = zeros ? "by chance every right value is a zero" : "by chance every right value is within its bound of zero";
  } else if (powerless) {
    r.verdict = Verdict::suspect, r.reason = "proves nothing: an output of zeros would pass";
    r.caught(Tier::T2);
  }
}

}  // namespace

std::vector<OrderRun> runs_of(const Kernel& kernel, const Prepared& p, const JudgeOptions& options) {
  const std::uint64_t seed = p.task->c.seed;
  // The second run takes the threads in reverse on even seeds and shuffled on odd ones.
  const int other_order = 1 + static_cast<int>(seed & 1);
  std::vector<OrderRun> runs;
  for (int k = 0; k < kRuns; ++k)
    runs.push_back(
        {.how = {.order = k == 0 ? 0 : other_order, .seed = seed, .sectors = options.sectors && k == 0, .watch = options.watch},
         .garbage = kGarbage[k]});
  if (p.input_sets > 1 && kernel.deterministic)
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

Record skipped(const Task& task, const Kernel& kernel, const JudgeOptions& options, std::string why) {
  Record r = blank_record(task, kernel, options);
  r.verdict = Verdict::skipped;
  r.reason = std::move(why);
  return r;
}

Record settle(const Result& result, const JudgeOptions& options) {
  const Task& task = *result.of->task;
  Record r = blank_record(task, *result.kernel, options);
  r.exact = result.of->exact;
  r.verdict = result.verdict;
  r.reason = result.reply.message;
  r.seconds = result.reply.seconds;
  r.traffic = result.reply.traffic;
  r.sites = result.reply.sites;
  r.cost = result.of->problem->cost();
  r.rows_checked = result.of->problem->rows().sample;
  r.rows = result.of->problem->rows().total;
  if (r.verdict == Verdict::passed)
    if (std::string why = judge_replay(result); !why.empty()) r.verdict = Verdict::failed, r.reason = std::move(why);
  if (is_bad(r.verdict)) r.caught(found_by_watch(r.reason) ? Tier::watch : Tier::T4);
  r.call_failed = result.reply.tainted || r.reason.starts_with("bad_launch");
  if (options.policies && (result.verdict == Verdict::passed || result.reply.outputs)) ask_policies(result, r);
  if (r.verdict == Verdict::passed) judge_outputs(result, r);
  return r;
}

}  // namespace assay
