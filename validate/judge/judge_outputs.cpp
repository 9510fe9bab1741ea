// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/judge_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "validate/judge/aggregate.hpp"
#include "validate/judge/compare.hpp"
#include "validate/judge/declared.hpp"
#include "validate/judge/pattern.hpp"
#include "validate/judge/power.hpp"
#include "validate/judge/relation_check.hpp"
#include "validate/problem/bounds.hpp"
#include "validate/problem/composite.hpp"
#include "validate/problem/numerics/habits.hpp"
#include "validate/problem/numerics/numerics_text.hpp"
#include "validate/tasks/given.hpp"
#include "validate/tasks/loaded.hpp"
#include "validate/values/random.hpp"
#include "validate/values/tensor_bits.hpp"

namespace assay {

namespace {

std::vector<std::int64_t> index_in(const Tensor& t, std::int64_t linear) {
  const auto index = t.index(linear);
  return {index.begin(), index.begin() + t.rank};
}

// Takes the steps of the tiers.  Each reports what it finds, and fills in its figures.
class OutputJudge {
 public:
  OutputJudge(Prepared& p, const Kernel& kernel, const Runs& runs, Record& record)
      : p_(p),
        op_(*p_.task->op),
        kernel_(kernel),
        numerics_(kernel.numerics),
        exact_(p_.asks_exact(numerics_)),
        runs_(runs),
        problem_(problem_judging(p, runs.images[0], own_, runs.steps)),
        r_(record) {
    int number = 0;
    for (std::size_t i = 0; i < op_.tensors.size(); ++i) {
      if (op_.tensors[i].role != Role::output) continue;
      if (runs.images[0][i]) outputs_.push_back(output_of(i, number));
      ++number;
    }
  }

  void run() {
    for (Output& y : outputs_) {
      y.first = compare(problem_, numerics_, y.number, y.runs[0], exact_);
      judge_elements(y);
      judge_together(y);
      judge_sweep(y);
      judge_second_run(y);
      judge_gaps(y);
      add_figures(y);
    }
    if (r_.wrong && !r_.reads_like.starts_with(kNeverWritten)) explain_outputs();
    if (r_.verdict == Verdict::passed) judge_relations();
    if (r_.verdict == Verdict::passed) judge_power();
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
    return problem_.has_bounds(numerics) && std::all_of(outputs_.begin(), outputs_.end(), [&](const Output& y) {
             return compare(problem_, numerics, y.number, y.runs[0], p_.asks_exact(numerics)).wrong == 0 &&
                    fault_together(y, numerics, nullptr).empty();
           });
  }

  // The numerics with words at their default that the op does not read; empty: there are no bounds for these.
  std::optional<Numerics> words_read(const Numerics& n) const {
    if (!problem_.has_bounds(n)) return {};
    if (const std::optional<Numerics> read = problem_.words_read(n)) return read;
    return words_that_differ(n, [this](const Numerics& a, const Numerics& b) { return bounds_differ(a, b); });
  }

 private:
  bool bounds_differ(const Numerics& a, const Numerics& b) const {
    constexpr std::int64_t kMost = 4096;  // elements that are asked
    for (const Output& y : outputs_) {
      const SolvedElements solved(problem_, y.number, y.runs[0].size());
      const std::int64_t step = std::max<std::int64_t>(1, solved.count() / kMost);
      const std::span<const double> bounds_a = problem_.bounds(a, y.number), bounds_b = problem_.bounds(b, y.number);
      for (std::int64_t k = 0; k < solved.count(); k += step) {
        const auto i = static_cast<std::size_t>(solved[k]);
        // Note: where the right value is a NaN, so is the bound.
        if (std::fabs(bounds_a[i] - bounds_b[i]) > 0) return true;
      }
    }
    return false;
  }

  struct Output {
    std::size_t tensor;
    int number;  // index among the outputs
    std::vector<Tensor> runs;
    Comparison first{};  // of the first run with the golden
  };
  const TensorSpec& spec(const Output& y) const { return op_.tensors[y.tensor]; }

  Output output_of(std::size_t tensor, int number) const {
    Output y{.tensor = tensor, .number = number, .runs = {}};
    for (const Images& run : runs_.images) {
      y.runs.push_back(p_.packing.placements[tensor].tensor);
      y.runs.back().data = run[tensor];
    }
    return y;
  }

  // T0 and T1: every element against its bound, or against the exact answer.
  void judge_elements(const Output& y) {
    add_comparison(y);
    note_power(y);
    if (y.first.wrong) {
      explain_by_pattern(y);
      report(
          exact_ ? Tier::T0 : Tier::T1,
          (op_.composite ? fmt::format("stage '{}': ", spec(y).name) : "") +
              (exact_ ? "differs where the answer is exactly representable" : fmt::format("err/bound = {:.3g}", y.first.margin)),
          r_);
    }
  }

  void add_comparison(const Output& y) {
    const Comparison& c = y.first;
    r_.compared += c.compared;
    r_.wrong += c.wrong;
    if (sums_are_finer(numerics_, p_.task->c.dtype)) r_.loose += c.loose;
    r_.max_abs_error = std::max(r_.max_abs_error, c.error);
    if (op_.composite && c.compared) r_.stages[std::string(spec(y).name)] = c.margin;
    if (c.worst >= 0 && (!r_.margin || c.margin > *r_.margin)) {
      r_.margin = c.margin;
      r_.worst = Record::Worst{std::string(spec(y).name), index_in(y.runs[0], c.worst), c.got, c.golden, c.bound};
      if (c.wrong) r_.worst->tile = tile_text(frame_of(y), p_.task->c.dims, r_.worst->index);
    }
  }

  // Notes what judge_power() decides by.
  void note_power(const Output& y) {
    const Comparison& c = y.first;
    powerless_ = powerless_ && c.powerless;
    zeros_ = zeros_ && c.zeros;
    zeros_or_unbounded_ = zeros_or_unbounded_ && c.zeros_or_unbounded;
    finite_ = finite_ || c.finite;
    if (Numerics wide = numerics_; c.powerless && powerless_in_f32_) {
      wide.accumulate = f32;
      wide.factors = {};
      wide.stores = {};
      wide.fused_exponent = wide.running_moments = wide.flushes_storage = false;
      powerless_in_f32_ = wide == numerics_ || compare(problem_, wide, y.number, y.runs[0], exact_).powerless;
    }
  }

  Frame frame_of(const Output& y) const {
    Frame frame = assay::frame_of(spec(y), kernel_, p_.task->c.dtype);
    for (const AxisUse& use : op_.axes) frame.extents.emplace_back(use.axis.name, p_.task->c.dims[use.axis]);
    return frame;
  }
  void explain_by_pattern(const Output& y) {
    const Pattern found = pattern(problem_, numerics_, y.number, y.runs[0], exact_, frame_of(y),
                                  y.runs.size() > 1 && !is_given(spec(y)) ? &y.runs[1] : nullptr);
    r_.pattern += (r_.pattern.empty() ? "" : "; ") + (outputs_.size() > 1 ? std::string(spec(y).name) + ": " : "") + found.text;
    if (r_.reads_like.empty()) r_.reads_like = found.reads_like;
  }
  // Looks for what else the kernel may have computed, or may have rounded.
  void explain_outputs() {
    std::vector<NumberedOutput> first_runs;
    for (const Output& y : outputs_) first_runs.push_back({y.number, y.runs[0]});
    if (std::string choice = right_with_other_choice(p_, numerics_, first_runs, r_.wrong); !choice.empty())
      r_.reads_like = std::move(choice);
    else if (const Output* const y = worst_output()) explain_by_fault(first_runs, problem_.row_of(y->number, y->first.worst));
    explain_by_habit();
  }
  // The output with the worst element; null: nothing was compared.
  const Output* worst_output() const {
    const auto at = std::find_if(outputs_.begin(), outputs_.end(),
                                 [&](const Output& y) { return r_.worst && spec(y).name == r_.worst->tensor; });
    return at == outputs_.end() ? nullptr : &*at;
  }
  void explain_by_fault(std::span<const NumberedOutput> first_runs, std::int64_t row_of_worst) {
    const std::string fault = right_with_usual_fault(p_, problem_, numerics_, first_runs, row_of_worst);
    if (!fault.empty()) r_.reads_like = fault + (r_.reads_like.empty() ? "" : "; " + r_.reads_like);
  }

  // Looks for words of numerics, each of which would make the outputs right if the kernel declared it too.
  void explain_by_habit() {
    if (op_.composite || numerics_.of_output) return;
    std::vector<std::pair<double, std::string>> found;  // err/bound, which is larger the less the word allows
    for (const std::string& word : habits(op_)) {
      const std::optional<Numerics> with = with_habit(numerics_, word);
      if (!with || !may_hold(*with)) continue;
      // Note: sums in 16 bits allow so much that they would excuse a wrong constant; their own errors come near their bound.
      const double least = word.starts_with("accumulate") || word.starts_with("factors") ? 0.02 : 0;
      if (const double margin = margin_as_habit(*with); margin <= 1 && margin >= least) found.emplace_back(-margin, word);
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [margin, word] : found) r_.would_pass.push_back(std::move(word));
  }

  // Whether the worst element may be right with other numerics.
  bool may_hold(const Numerics& with) const {
    const Output* const y = worst_output();
    if (!y) return true;
    if (!problem_.has_bounds(with)) return false;
    const double error = std::fabs(y->first.got - y->first.golden);
    const double bound = problem_.bound(with, y->number, y->first.worst);
    return bound > problem_.bound(numerics_, y->number, y->first.worst) && (error <= bound || std::isinf(bound));
  }

  // err/bound with other numerics; infinite if it is above 1, or shows nothing, since zeros would be right too.
  double margin_as_habit(const Numerics& with) const {
    double most = 0;
    bool powerless = true;
    for (const Output& y : outputs_) {
      const Comparison c = compare(problem_, with, y.number, y.runs[0], p_.asks_exact(with));
      powerless = powerless && c.powerless;
      most = std::max(most, c.wrong ? HUGE_VAL : c.margin);
      if (most > 1) break;
    }
    return powerless ? HUGE_VAL : most;
  }

  // T2: aggregate checks, if every element is within its bound.
  void judge_together(const Output& y) {
    if (y.first.wrong == 0) report(Tier::T2, fault_together(y, numerics_, &r_), r_);
  }

  // What is wrong with all errors together; empty: nothing.  `r`: gets the figures.
  std::string fault_together(const Output& y, const Numerics& numerics, Record* r) const {
    // Note: an output of an op without sums depends on few inputs, so it takes few values in 16 bits and its roundings repeat.
    if (p_.exact || !p_.scattered || op_.formula.summed.empty() || (y.number != 0 && numerics.of_output)) return {};
    std::int64_t terms = kManyTerms;
    for (const Axis& axis : op_.formula.summed) terms = std::min(terms, p_.task->c.dims[axis]);
    const Aggregate a = aggregate(problem_, op_.formula, numerics, y.runs[0], y.number, terms);
    if (a.elements == 0) return {};
    const double by_oracle = y.number == 0 ? p_.predictions.rms(op_, problem_, numerics, y.runs[0]) : 0;
    const double unit = by_oracle > 0 ? by_oracle : a.predicted_rms;
    if (r && y.number == 0) {
      r->rms_ratio = a.rms / unit;
      r->bias = a.bias / unit;
    }
    return aggregate_fault(a, unit);
  }

  // T1 if the golden is sampled: a cheaper check of all rows.
  void judge_sweep(const Output& y) {
    if (y.number != 0 || p_.problem->rows().all() || !op_.hooks.sweep) return;
    const double margin = op_.hooks.sweep(p_.problem->args(), numerics_, p_.problem->errors(), y.runs[0], p_.task->c.seed);
    r_.sweep_margin = margin;
    if (!(margin <= 1))
      report(Tier::T1, fmt::format("rows that were not sampled: err/bound = {:.3g} in a check of all", margin), r_);
  }

  // T4: the second run must have the bits of the first, if the kernel is deterministic.  T1: it must be within its bound.
  void judge_second_run(const Output& y) {
    if (y.runs.size() < 2) return;
    const bool same = same_elements(y.runs[0], y.runs[1]);
    r_.deterministic = r_.deterministic.value_or(true) && same;
    if (same) return;
    if (kernel_.deterministic)
      report(Tier::T4,
             fmt::format("two runs of '{}' differ: it depends on what the buffer held, or on the order of threads", spec(y).name),
             r_);
    std::unique_ptr<Problem> own;
    if (compare(problem_judging(p_, runs_.images[1], own, runs_.steps), numerics_, y.number, y.runs[1], exact_).wrong)
      report(Tier::T1, fmt::format("'{}' is out of bounds in the second run", spec(y).name), r_);
  }

  // T4: the gaps between rows must be untouched.
  void judge_gaps(const Output& y) {
    const bool in_place = lies_over(op_, p_.task->c, y.tensor).has_value();
    for (std::size_t k = 0; k < y.runs.size(); ++k)
      if (!gaps_intact(y.runs[k], p_.packing.placements[y.tensor].bytes, in_place || is_given(spec(y)) ? kGapByte : kGarbage[k]))
        report(Tier::T4, fmt::format("wrote between the rows of '{}'", spec(y).name), r_);
  }

  void add_figures(const Output& y) {
    r_.digest = digest(y.runs[0], r_.digest.value_or(0));
    if (y.number == 0 && !p_.problem->end_to_end().empty()) r_.end_to_end = end_to_end_error(*p_.problem, y.runs[0]);
  }

  // T3: the related runs against the first one, up to one that is wrong.
  void judge_relations() {
    for (std::size_t k = 0; k < runs_.related.size() && r_.verdict == Verdict::passed; ++k) {
      const RelatedRun& run = runs_.related[k];
      r_.relations.emplace_back(run.relation->name);
      report(Tier::T3,
             judge_relation(op_, kernel_, *run.relation, p_.task->c, *p_.problem, p_.packing, p_.inputs.data(), runs_.packed,
                            run.outputs.data(), run.steps),
             r_);
    }
  }

  // T2: whether the case could have failed a kernel.
  // Note: only a case of a dataset is suspect, since its author can replace it; a random one may cancel by chance, and few
  // outputs of a dataset's case may in one draw.  Of a case that all ops have zeros may be the right answer, or a step may
  // overflow in every row.  A case that would fail zeros of a kernel with sums in f32, whole factors, nothing stored on the way,
  // exponents in steps, moments in two passes and nothing flushed is not at fault if this one declares others.  A kernel that
  // declares more errors than it makes is found by power (power.hpp), over a whole run.
  void judge_power() {
    std::string claim = claims_too_much(numerics_);
    for (const Numerics& step : runs_.steps)
      if (claim.empty()) claim = claims_too_much(step);
    if (!claim.empty() && r_.compared) {
      report(Tier::T2, fmt::format("proves little: the kernel declares {}, and at most 1 % is believed", claim), r_,
             Verdict::suspect);
    } else if (r_.compared == 0) {
      r_.reason = "empty: nothing may be written, and nothing was";
    } else if (p_.task->given && !finite_) {
      r_.reason = "no right value is a finite number";
    } else if (powerless_ && (!from_dataset(p_.task->c) || (zeros_or_unbounded_ && p_.task->c.source == kCommonSource) ||
                              (powerless_in_f32_ && shows_in_another_draw()))) {
      r_.reason = zeros_                ? "by chance every right value is a zero"
                  : zeros_or_unbounded_ ? "no right value but zeros has a finite bound, so that any value passes"
                                        : "by chance every right value is within its bound of zero";
    } else if (powerless_ && !powerless_in_f32_) {
      r_.reason = "every right value is within its bound of zero, which the declared numerics widen";
    } else if (powerless_) {
      report(Tier::T2, "proves nothing: an output of zeros would pass", r_, Verdict::suspect);
    }
  }

  // Whether zeros would fail with other values of the case's fill.  Only few outputs can all be small by chance.
  bool shows_in_another_draw() const {
    constexpr std::int64_t kFew = 256;
    constexpr int kDraws = 4;
    if (r_.compared > kFew || p_.task->given || op_.composite) return false;
    Task task = *p_.task;
    for (int draw = 0; draw < kDraws; ++draw) {
      task.c.seed = random::mix(task.c.seed + random::kGamma);
      const std::shared_ptr<Prepared> other = prepare(task, 0);
      if (std::any_of(outputs_.begin(), outputs_.end(), [&](const Output& y) { return fails_zeros(*other, y); })) return true;
    }
    return false;
  }
  bool fails_zeros(const Prepared& other, const Output& y) const {
    const Placement& place = other.packing.placements[y.tensor];
    std::vector<std::byte> image(place.bytes + 1);
    Tensor zeros = place.tensor;
    zeros.data = image.data();
    return !compare(*other.problem, numerics_, y.number, zeros, other.asks_exact(numerics_)).powerless;
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
  bool powerless_ = true, zeros_ = true, zeros_or_unbounded_ = true, finite_ = false;
  bool powerless_in_f32_ = true;  // an output of zeros would pass without the words that may widen a bound beyond the values
};

}  // namespace

void report(Tier tier, std::string finding, Record& r, Verdict verdict) {
  if (finding.empty()) return;
  r.caught(tier);
  if (r.verdict == Verdict::passed) {
    r.verdict = verdict;
    r.reason = std::move(finding);
  }
}

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

const Problem& problem_judging(const Prepared& p, const Images& outputs, std::unique_ptr<Problem>& own,
                               std::span<const Numerics> steps) {
  Images images = outputs;
  for (std::size_t i = 0; i < images.size(); ++i)
    if (p.task->op->tensors[i].role != Role::output) images[i] = p.given[i];
  return judged_by(*p.task->op, p.task->c, p.packing.placements, images, *p.problem, own, steps);
}

void judge_outputs(Prepared& p, const Kernel& kernel, const Runs& runs, const Onlookers& onlookers, Record& r) {
  OutputJudge outputs(p, kernel, runs, r);
  outputs.run();
  if (onlookers.declared && r.verdict == Verdict::passed)
    onlookers.declared->look(kernel, r, [&](const Numerics& n) { return outputs.margin(n); });
  if (onlookers.suggested)
    onlookers.suggested->look(
        kernel, r, [&](const Numerics& n) { return outputs.meets(n); }, [&](const Numerics& n) { return outputs.words_read(n); });
}

}  // namespace assay
