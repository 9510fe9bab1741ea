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
#include "validate/problem/altered.hpp"
#include "validate/problem/composite.hpp"
#include "validate/problem/habits.hpp"
#include "validate/problem/numerics_text.hpp"
#include "validate/problem/solved_elements.hpp"
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
    if (r_.wrong) {
      read_as_choice();
      read_as_altered();
      read_as_habit();
    }
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

  // Whether some bound differs with other numerics.
  bool bounds_differ(const Numerics& a, const Numerics& b) const {
    constexpr std::int64_t kMost = 4096;  // elements that are asked
    for (const Output& y : outputs_) {
      const SolvedElements solved(problem_, y.number, y.runs[0].size());
      const std::int64_t step = std::max<std::int64_t>(1, solved.count() / kMost);
      for (std::int64_t k = 0; k < solved.count(); k += step)
        // Note: where the right value is a NaN, so is the bound.
        if (std::fabs(problem_.bound(a, y.number, solved[k]) - problem_.bound(b, y.number, solved[k])) > 0) return true;
    }
    return false;
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
    Frame frame = frame_of(spec(y), kernel_, p_.task->c.dtype);
    for (const AxisUse& use : op_.axes) frame.extents.emplace_back(name(use.axis), p_.task->c.dims[use.axis]);
    if (c.worst >= 0 && (!r_.margin || c.margin > *r_.margin)) {
      r_.margin = c.margin;
      r_.worst = Record::Worst{std::string(spec(y).name), decoded(y.runs[0], c.worst), c.got, c.golden, c.bound};
      if (c.wrong) r_.worst->tile = tile_text(frame, p_.task->c.dims, r_.worst->index);
    }
    if (!c.wrong) return;
    const Pattern found = pattern(problem_, numerics_, y.number, y.runs[0], exact_, frame,
                                  y.runs.size() > 1 && !is_given(spec(y)) ? &y.runs[1] : nullptr);
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
    if (op_.composite || r_.reads_like.starts_with(kNeverWritten) || r_.wrong < kFewest) return;
    if (p_.problem->cost().flops > kMostFlops || elements(c, op_.shape()) > kMostElements) return;
    for (const Attribute& a : op_.attributes) {
      if (places_tensors(a.name)) continue;
      const double asked = attribute(c, a.name, a.standard);
      for (std::size_t word = 0; word < a.choices.size(); ++word)
        if (const auto other = static_cast<double>(word); other != asked && explained_by(a.name, other)) {
          r_.reads_like = fmt::format("{0}={1}, where {0}={2} is asked", a.name, text_of(a, other), text_of(a, asked));
          read_as_choice_ = true;
          return;
        }
    }
  }

  // Looks for a problem with a usual fault of which the outputs are right.  Few rows are asked, and few elements prove nothing.
  void read_as_altered() {
    constexpr double kMostFlops = 1e7;
    const Case& c = p_.task->c;
    if (op_.composite || read_as_choice_ || r_.reads_like.starts_with(kNeverWritten) || !r_.worst) return;
    if (p_.problem->cost().flops > kMostFlops) return;
    const std::vector<std::int64_t> rows = rows_to_ask();
    each_altered(op_, c, p_.packing.placements, p_.given, [&](const std::string& what, Problem& other) {
      if (!right_in(other, {rows.front()}, 1) || !right_in(other, rows, kFewest)) return false;
      r_.reads_like = what + (r_.reads_like.empty() ? "" : "; " + r_.reads_like);
      return true;
    });
  }

  // Rows with wrong elements, that of the worst one first, and a few others.
  std::vector<std::int64_t> rows_to_ask() const {
    constexpr std::size_t kWrong = 8, kAll = 12;
    std::vector<std::int64_t> wrong, right;
    const auto add = [](std::vector<std::int64_t>& to, std::size_t most, std::int64_t row) {
      if (to.size() < most && std::find(to.begin(), to.end(), row) == to.end()) to.push_back(row);
    };
    for (const Output& y : outputs_)
      if (spec(y).name == r_.worst->tensor) add(wrong, kWrong, problem_.row_of(y.number, linear(y, r_.worst->index)));
    for (const Output& y : outputs_)
      each_judged(problem_, numerics_, y.number, y.runs[0], exact_, [&](const Element& e) {
        if (wrong.size() < kWrong || right.size() < kAll)
          add(e.wrong ? wrong : right, e.wrong ? kWrong : kAll, problem_.row_of(y.number, e.i));
      });
    for (const std::int64_t row : right) add(wrong, kAll, row);
    return wrong;
  }

  static std::int64_t linear(const Output& y, std::span<const std::int64_t> index) {
    std::int64_t i = 0;
    for (std::size_t a = 0; a < index.size(); ++a) i = i * y.runs[0].shape[a] + index[a];
    return i;
  }

  // Whether the outputs in some rows are right for another problem, but for one element of eight, with no wider bounds, and at
  // least so many wrong ones are.
  bool right_in(Problem& other, std::vector<std::int64_t> rows, std::int64_t fewest) const {
    constexpr std::int64_t kOneIn = 8;
    constexpr double kWider = 4;
    std::sort(rows.begin(), rows.end());
    other.set_errors(problem_.errors());
    other.solve(std::move(rows));
    std::int64_t wrong = 0, still = 0, mended = 0;
    for (const Output& y : outputs_)
      each_judged(other, numerics_, y.number, y.runs[0], false, [&](const Element& e) {
        const double golden = problem_.golden(y.number)[static_cast<std::size_t>(e.i)],
                     bound = problem_.bound(numerics_, y.number, e.i);
        const double room = kWider * (bound + unit_roundoff(y.runs[0].dtype) * std::fabs(e.got));
        const bool was_wrong = !(std::fabs(e.got - golden) <= bound);
        const bool both_nan = std::isnan(e.got) && std::isnan(e.golden);
        const bool is_wrong = e.wrong || !(both_nan || std::fabs(e.got - e.golden) <= room);
        wrong += was_wrong;
        still += is_wrong;
        mended += was_wrong && !is_wrong && !both_nan;  // Note: many faults give a NaN
      });
    return mended >= fewest && still <= wrong / kOneIn;
  }

  // Looks for words of numerics, each of which would make the outputs right if the kernel declared it too.
  void read_as_habit() {
    if (op_.composite || numerics_.of_output || r_.reads_like.starts_with(kNeverWritten)) return;
    std::vector<std::pair<double, std::string>> found;  // err/bound, which is larger the less the word allows
    for (const std::string_view word : habits()) {
      const std::optional<Numerics> with = with_habit(numerics_, word);
      if (!with || !may_hold(*with)) continue;
      // Note: sums in 16 bits allow so much that they would excuse a wrong constant; their own errors come near their bound.
      const double least = word.starts_with("accumulate") || word.starts_with("factors") ? 0.02 : 0;
      if (const double margin = margin_as_habit(*with); margin <= 1 && margin >= least) found.emplace_back(-margin, word);
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [margin, word] : found) r_.would_pass.push_back(std::move(word));
  }

  // Whether the worst element may be right with other numerics.  One element is cheap to ask.
  bool may_hold(const Numerics& with) const {
    for (const Output& y : outputs_) {
      if (!r_.worst || spec(y).name != r_.worst->tensor) continue;
      const std::int64_t i = linear(y, r_.worst->index);
      const double error = std::fabs(r_.worst->got - r_.worst->golden);
      const double bound = problem_.bound(with, y.number, i);
      return bound > problem_.bound(numerics_, y.number, i) && (error <= bound || (with.smaller_range() && std::isinf(bound)));
    }
    return true;
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
  static constexpr std::int64_t kFewest = 4;  // wrong elements by which a fault is known
  bool read_as_choice_ = false;
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
  if (onlookers.suggested)
    onlookers.suggested->look(
        kernel, r, [&](const Numerics& n) { return outputs.meets(n); },
        [&](const Numerics& a, const Numerics& b) { return outputs.bounds_differ(a, b); });
}

}  // namespace assay
