// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/judge_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "validate/judge/aggregate.hpp"
#include "validate/judge/compare.hpp"
#include "validate/judge/declared.hpp"
#include "validate/judge/pattern.hpp"
#include "validate/judge/relation_check.hpp"
#include "validate/problem/composite.hpp"
#include "validate/problem/numerics_text.hpp"
#include "validate/tasks/loaded.hpp"
#include "validate/values/random.hpp"
#include "validate/values/tensor_bits.hpp"

namespace assay {

namespace {

std::vector<std::int64_t> decoded(const Tensor& t, std::int64_t linear) {
  std::vector<std::int64_t> index(static_cast<std::size_t>(t.rank));
  for (int a = t.rank - 1; a >= 0; --a) {
    index[static_cast<std::size_t>(a)] = linear % t.shape[a];
    linear /= t.shape[a];
  }
  return index;
}

// Judges the outputs of all runs and fills in the verdict and its reason.
class OutputJudge {
 public:
  OutputJudge(Prepared& p, const Kernel& kernel, const Runs& runs, Record& record)
      : p_(p),
        op_(*p_.task->op),
        kernel_(kernel),
        numerics_(kernel.numerics),
        exact_(p_.asks_exact(numerics_)),
        runs_(runs),
        problem_(problem_judging(p, runs.images[0], own_)),
        r_(record) {
    int number = 0;
    for (std::size_t i = 0; i < op_.tensors.size(); ++i) {
      if (op_.tensors[i].role != Role::output) continue;
      if (runs.images[0][i]) outputs_.push_back(output_of(i, number));
      ++number;
    }
  }

  void run() {
    for (const Output& y : outputs_) judge_output(y);
    if (r_.wrong) read_as_choice();
    if (r_.verdict != Verdict::passed) return;
    if (std::string why = judge_relations(); !why.empty()) return fail(Tier::T3, std::move(why));
    judge_power();
  }

  // err/bound of the first run with other numerics; infinite if an output fails.
  double margin(const Numerics& numerics) const {
    double most = 0;
    for (const Output& y : outputs_) {
      const Comparison c = compare(problem_, numerics, y.number, y.runs[0], p_.asks_exact(numerics));
      if (c.wrong) return HUGE_VAL;
      most = std::max(most, c.margin);
    }
    return most;
  }

  // Whether the first run passes with other numerics.
  bool meets(const Numerics& numerics) const {
    return std::all_of(outputs_.begin(), outputs_.end(), [&](const Output& y) {
      return compare(problem_, numerics, y.number, y.runs[0], p_.asks_exact(numerics)).wrong == 0 &&
             judge_together(y, numerics, nullptr).empty();
    });
  }

 private:
  struct Output {
    std::size_t tensor;
    int number;  // index among the outputs
    std::vector<Tensor> runs;
  };

  void fail(Tier tier, std::string reason) {
    r_.caught(tier);
    if (r_.verdict == Verdict::passed) {
      r_.verdict = Verdict::failed;
      r_.reason = std::move(reason);
    }
  }
  const TensorSpec& spec(const Output& y) const { return op_.tensors[y.tensor]; }

  Output output_of(std::size_t tensor, int number) const {
    Output y{.tensor = tensor, .number = number, .runs = {}};
    for (const Images& run : runs_.images) {
      y.runs.push_back(p_.packing.placements[tensor].tensor);
      y.runs.back().data = run[tensor];
    }
    return y;
  }

  void judge_output(const Output& y) {
    const Comparison c = compare(problem_, numerics_, y.number, y.runs[0], exact_);
    judge_elements(y, c);
    if (c.wrong == 0)
      if (std::string why = judge_together(y, numerics_, &r_); !why.empty()) fail(Tier::T2, std::move(why));
    r_.digest = digest(y.runs[0], r_.digest.value_or(0));
    if (y.number == 0 && !p_.problem->end_to_end().empty()) r_.end_to_end = end_to_end_error(*p_.problem, y.runs[0]);
    if (y.number == 0) sweep(y);
    judge_second_run(y);
    judge_gaps(y);
  }

  // T0 and T1: every element against its bound, or against the exact answer.
  void judge_elements(const Output& y, const Comparison& c) {
    r_.compared += c.compared;
    r_.wrong += c.wrong;
    r_.max_abs_error = std::max(r_.max_abs_error, c.error);
    powerless_ = powerless_ && c.powerless;
    zeros_ = zeros_ && c.zeros;
    finite_ = finite_ || c.finite;
    if (Numerics wide = numerics_; c.powerless && powerless_in_f32_) {
      wide.accumulate = f32;
      wide.factors = {};
      wide.fused_exponent = wide.running_moments = wide.flushes_storage = false;
      powerless_in_f32_ = wide == numerics_ || compare(problem_, wide, y.number, y.runs[0], exact_).powerless;
    }
    if (op_.composite && c.compared) r_.stages[std::string(spec(y).name)] = c.margin;
    const Frame frame = frame_of(spec(y), kernel_, p_.task->c.dtype);
    if (c.worst >= 0 && (!r_.margin || c.margin > *r_.margin)) {
      r_.margin = c.margin;
      r_.worst = Record::Worst{std::string(spec(y).name), decoded(y.runs[0], c.worst), c.got, c.golden, c.bound};
      if (c.wrong) r_.worst->tile = tile_text(frame, p_.task->c.dims, r_.worst->index);
    }
    if (!c.wrong) return;
    const Pattern found = pattern(problem_, numerics_, y.number, y.runs[0], exact_, frame);
    r_.pattern += (r_.pattern.empty() ? "" : "; ") + (outputs_.size() > 1 ? std::string(spec(y).name) + ": " : "") + found.text;
    if (r_.reads_like.empty()) r_.reads_like = found.reads_like;
    fail(exact_ ? Tier::T0 : Tier::T1,
         (op_.composite ? fmt::format("stage '{}': ", spec(y).name) : "") +
             (exact_ ? "differs where the answer is exactly representable" : fmt::format("err/bound = {:.3g}", c.margin)));
  }

  // Looks for a choice of the op (an attribute that is one of several words) that is right with another word: the kernel may
  // compute that function.  Only where another golden costs little, as it does of a shrunk case.
  void read_as_choice() {
    constexpr double kMostFlops = 1e7, kMostElements = 1 << 20;
    const Case& c = p_.task->c;
    if (op_.composite || r_.reads_like.starts_with(kNeverWritten)) return;
    if (p_.problem->cost().flops > kMostFlops || elements(c, op_.shape()) > kMostElements) return;
    for (const Attribute& a : op_.attributes) {
      if (places_tensors(a.name)) continue;
      const double asked = attribute(c, a.name, a.standard);
      for (std::size_t word = 0; word < a.choices.size(); ++word)
        if (const auto other = static_cast<double>(word); other != asked && explained_by(a.name, other)) {
          r_.reads_like = fmt::format("{0}={1}, where {0}={2} is asked", a.name, text_of(a, other), text_of(a, asked));
          return;
        }
    }
  }

  // Whether tensors are present, or lie, as the choice says.
  bool places_tensors(std::string_view choice) const {
    return std::any_of(op_.tensors.begin(), op_.tensors.end(), [&](const TensorSpec& t) {
      return t.options.present_if == choice || t.options.in_place_if == choice || t.options.merged_if == choice;
    });
  }

  // Whether with this word of a choice no more than one wrong element of 64 would be wrong.
  bool explained_by(std::string_view choice, double word) const {
    constexpr std::int64_t kOneIn = 64;
    Case c = p_.task->c;
    c.attributes[std::string(choice)] = word;
    const std::unique_ptr<Problem> other = op_.make();
    attach(*other, c, p_.packing.placements, p_.given);
    if (!other->legal()) return false;
    other->set_errors(problem_.errors());
    other->solve(problem_.rows().sample);
    std::int64_t wrong = 0;
    bool finite = false;
    for (const Output& y : outputs_) {
      const Comparison compared = compare(*other, numerics_, y.number, y.runs[0], false);
      wrong += compared.wrong;
      finite = finite || compared.finite;
    }
    return finite && wrong <= r_.wrong / kOneIn;
  }

  // T2: aggregate checks.  Every element is within its bound.  `r`: gets the figures.
  std::string judge_together(const Output& y, const Numerics& numerics, Record* r) const {
    // Note: an output of an op without sums depends on few inputs, so it takes few values in 16 bits and its roundings repeat.
    if (p_.exact || !p_.scattered || op_.hooks.summed.empty() || (y.number != 0 && numerics.of_output)) return {};
    std::int64_t terms = kManyTerms;
    for (const Summed& sum : op_.hooks.summed) terms = std::min(terms, p_.task->c.dims[sum.axis]);
    const Aggregate a = aggregate(problem_, op_.hooks, numerics, y.runs[0], y.number, terms);
    if (a.elements == 0) return {};
    if (y.number != 0) return aggregate_fault(a, a.predicted_rms);
    const double by_oracle = p_.predictions.rms(op_, problem_, numerics, y.runs[0]);
    const double unit = by_oracle > 0 ? by_oracle : a.predicted_rms;
    if (r) {
      r->rms_ratio = a.rms / unit;
      r->bias = a.bias / unit;
    }
    return aggregate_fault(a, unit);
  }

  // T3: the related runs against the first one.
  std::string judge_relations() {
    for (const RelatedRun& run : runs_.related) {
      r_.relations.emplace_back(run.relation->name);
      std::string why = judge_relation(op_, kernel_, *run.relation, p_.task->c, *p_.problem, p_.packing, p_.inputs.data(),
                                       runs_.packed, run.outputs.data());
      if (!why.empty()) return why;
    }
    return {};
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
    if (y.runs.size() < 2) return;
    const bool same = same_elements(y.runs[0], y.runs[1]);
    r_.deterministic = r_.deterministic.value_or(true) && same;
    if (same) return;
    if (kernel_.deterministic)
      fail(Tier::T4,
           fmt::format("two runs of '{}' differ: it depends on what the buffer held, or on the order of threads", spec(y).name));
    std::unique_ptr<Problem> own;
    if (compare(problem_judging(p_, runs_.images[1], own), numerics_, y.number, y.runs[1], exact_).wrong)
      fail(Tier::T1, fmt::format("'{}' is out of bounds in the second run", spec(y).name));
  }

  // T4: the gaps between rows must be untouched.
  void judge_gaps(const Output& y) {
    const bool in_place = lies_over(op_, p_.task->c, y.tensor).has_value();
    for (std::size_t k = 0; k < y.runs.size(); ++k)
      if (!gaps_intact(y.runs[k], p_.packing.placements[y.tensor].bytes, in_place || is_given(spec(y)) ? kGapByte : kGarbage[k]))
        fail(Tier::T4, fmt::format("wrote between the rows of '{}'", spec(y).name));
  }

  // Whether the case could have failed a kernel.
  // Note: only a case of a dataset is suspect, since its author can replace it; a random one may cancel by chance, and few
  // outputs of a dataset's case may in one draw.  A case that would fail zeros of a kernel with sums in f32, whole factors,
  // exponents in steps, moments in two passes and nothing flushed is not at fault if this one declares others.  A kernel that
  // declares more errors than it makes is found by power (power.hpp), over a whole run.
  void judge_power() {
    if (const std::string claim = claims_too_much(numerics_); !claim.empty() && r_.compared) {
      r_.verdict = Verdict::suspect;
      r_.reason = fmt::format("proves little: the kernel declares {}, and at most 1 % is believed", claim);
      r_.caught(Tier::T2);
    } else if (r_.compared == 0) {
      r_.reason = "empty: nothing may be written, and nothing was";
    } else if (p_.task->given && !finite_) {
      r_.reason = "no right value is a finite number";
    } else if (powerless_ && (!from_dataset(p_.task->c) || (powerless_in_f32_ && shows_in_another_draw()))) {
      r_.reason = zeros_ ? "by chance every right value is a zero" : "by chance every right value is within its bound of zero";
    } else if (powerless_ && !powerless_in_f32_) {
      r_.reason = "every right value is within its bound of zero, which the declared numerics widen";
    } else if (powerless_) {
      r_.verdict = Verdict::suspect;
      r_.reason = "proves nothing: an output of zeros would pass";
      r_.caught(Tier::T2);
    }
  }

  // Whether zeros would fail with other values of the case's fill.  Only few outputs can all be small by chance.
  bool shows_in_another_draw() const {
    constexpr std::int64_t kFew = 256;
    constexpr std::uint64_t kDraws = 4;
    if (r_.compared > kFew || p_.task->given || op_.composite) return false;
    Task task = *p_.task;
    for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
      task.c.seed = random::mix(task.c.seed + random::kGamma);
      const std::shared_ptr<Prepared> other = prepare(task, 0);
      for (const Output& y : outputs_) {
        const Placement& place = other->packing.placements[y.tensor];
        std::vector<std::byte> image(place.bytes + 1);
        Tensor zeros = place.tensor;
        zeros.data = image.data();
        if (!compare(*other->problem, numerics_, y.number, zeros, other->asks_exact(numerics_)).powerless) return true;
      }
    }
    return false;
  }

  Prepared& p_;
  const Op& op_;
  const Kernel& kernel_;
  const Numerics& numerics_;
  const bool exact_;
  const Runs& runs_;
  std::unique_ptr<Problem> own_;
  const Problem& problem_;
  Record& r_;
  std::vector<Output> outputs_;
  bool powerless_ = true, zeros_ = true, finite_ = false;
  bool powerless_in_f32_ = true;  // an output of zeros would pass without the words that may widen a bound beyond the values
};

}  // namespace

Record blank_record(const Task& task, const Kernel& kernel, const std::string& backend,
                    const std::vector<std::string>& not_checked) {
  Record r;
  r.kernel = kernel.name;
  r.backend = backend;
  r.numerics = text_of(kernel.numerics);
  if (!kernel.declares_numerics) r.held_to = kHeldTo;
  if (task.given && !task.given->flags.empty())
    r.given = fmt::format("run {} {}{}--kernel {}/{}", task.given->flags, kernel.loaded ? kernel.loaded->flags : "",
                          kernel.loaded ? " " : "", kernel.op, kernel.name);
  r.not_checked = kernel.loaded ? kernel.loaded->not_checked : not_checked;
  if (kernel.loaded) {
    r.loaded = kernel.loaded->flags;
    r.code = kernel.code;
  }
  r.fidelity = kernel.fidelity;
  r.c = task.c;
  r.multi_tile_ragged = multi_tile_ragged(kernel, task.c);
  r.repro = repro(task.c, task.op->shape(), kernel.name);
  return r;
}

const Problem& problem_judging(const Prepared& p, const Images& outputs, std::unique_ptr<Problem>& own) {
  Images images = outputs;
  for (std::size_t i = 0; i < images.size(); ++i)
    if (p.task->op->tensors[i].role != Role::output) images[i] = p.given[i];
  return judged_by(*p.task->op, p.task->c, p.packing.placements, images, *p.problem, own);
}

void judge_outputs(Prepared& p, const Kernel& kernel, const Runs& runs, const Onlookers& onlookers, Record& r) {
  OutputJudge outputs(p, kernel, runs, r);
  outputs.run();
  if (onlookers.declared && r.verdict == Verdict::passed)
    onlookers.declared->look(kernel, r, [&](const Numerics& n) { return outputs.margin(n); });
  if (onlookers.suggested) onlookers.suggested->look(kernel, r, [&](const Numerics& n) { return outputs.meets(n); });
}

}  // namespace assay
