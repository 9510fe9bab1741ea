// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/relation_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "validate/judge/compare.hpp"
#include "validate/problem/bounds.hpp"
#include "validate/values/random.hpp"

namespace assay {

namespace {

// Whether scaling v to `scaled`, by a power of two, is exact where it gave `got`: v and `scaled` are normal values, or v is a
// zero and did not underflow, since its golden is zero too (`zero_by_right`).  Note: the least normal value is left out, as a
// subnormal may be rounded up to it.  What is zero in exact arithmetic may also be a difference of rounded terms, so small that
// it becomes zero only before it is scaled.
bool scales_exactly(DType t, double v, double scaled, double got, bool zero_by_right) {
  const double least = random::power_of_two(info(t).format.min_exponent), most = overflow_threshold(t);
  const auto normal = [&](double x) { return std::fabs(x) > least && std::fabs(x) < most; };
  return v == 0 ? zero_by_right && !(std::fabs(got) <= least) : normal(v) && normal(scaled);
}

std::string place(std::span<const Extent> axes, const Tensor& t, std::int64_t i) {
  std::string text;
  for (std::size_t a = axes.size(); a-- > 0; i /= t.shape[a])
    text = fmt::format("{} {}{}{}", axes[a].text(), i % t.shape[a], text.empty() ? "" : ", ", text);
  return text;
}

// Whether the square of every finite given value is finite in the case's dtype and, where all rows have a golden, none is NaN or
// +inf; where they have not, no value is infinite or NaN.  Note: such inputs may be there to be hidden by a mask; -inf is the
// log-sum-exp of a query that sees no key.
bool within_range(const Op& op, const Case& c, const Problem& original, const Packing& from, const std::byte* inputs) {
  const double most = std::sqrt(overflow_threshold(c.dtype));
  int output = -1;
  for (std::size_t t = 0; t < op.tensors.size(); ++t) {
    if (is_given(op.tensors[t])) {
      Tensor x = from.placements[t].tensor;
      x.data = const_cast<std::byte*>(inputs + from.given[t]);
      if (is_index(x.dtype)) continue;
      for (std::int64_t i = 0; i < x.size(); ++i)
        if (const double v = std::fabs(x.at(i)); std::isfinite(v) ? v >= most : !original.rows().all()) return false;
    }
    if (op.tensors[t].role != Role::output) continue;
    ++output;
    if (!original.rows().all()) continue;
    for (const double golden : original.golden(output))
      if (std::isnan(golden) || golden == HUGE_VAL) return false;
  }
  return true;
}

// Whether a sound kernel must give equal bits: asks_bits(), unless elements are moved and the values are not all within_range().
// A tile with such a value may be computed in another order than its neighbours, so what comes out for an ordinary element
// depends on who shares its tile.
bool owes_bits(const Op& op, const Kernel& kernel, const Relation& r, const Case& c, const Problem& original, const Packing& from,
               const std::byte* inputs) {
  if (!asks_bits(r, kernel, c.dtype)) return false;
  return r.move == Relation::Move::none || within_range(op, c, original, from, inputs);
}

// Judges the outputs of a kernel on a related problem.
class RelationJudge {
 public:
  RelationJudge(const Op& op, const Kernel& kernel, const Relation& r, const Case& c, const Problem& original,
                const Packing& from, const std::byte* inputs, const std::byte* outputs, const std::byte* related_outputs,
                std::span<const Numerics> steps)
      : op_(op),
        numerics_(kernel.numerics),
        r_(r),
        c_(c),
        original_(original),
        from_(from),
        inputs_(inputs),
        outputs_(outputs),
        related_outputs_(related_outputs),
        steps_(steps),
        changed_(related_case(r, c)),
        to_(pack(op, changed_)),
        bits_(owes_bits(op, kernel, r, c, original, from, inputs)) {}

  std::string run() {
    const bool is_part = r_.move == Relation::Move::first_part;
    if ((!bits_ || (!r_.within_bounds.empty() && !is_part)) && original_.rows().all() && !solved()) return {};
    int output = -1;
    for (std::size_t t = 0; t < op_.tensors.size(); ++t) {
      const TensorSpec& spec = op_.tensors[t];
      if (spec.role != Role::output) continue;
      ++output;
      const bool loose = std::ranges::find(r_.within_bounds, spec.name) != r_.within_bounds.end();
      if (loose && is_part) continue;  // a sum of other terms
      const Output of(*this, t, output);
      if (std::string why = bits_ && !loose ? by_bits(of) : by_bounds(of); !why.empty()) return why;
    }
    return {};
  }

 private:
  // An output in both runs; of an inverse check, the input that it must be.
  struct Output {
    Output(const RelationJudge& judge, std::size_t t, int index)
        : spec(judge.op_.tensors[t]),
          number(index),
          inverse(judge.r_.inverse_of(spec.name)),
          scaling(judge.r_.scaling(spec.name)),
          sources(judge.r_, judge.c_.dims, judge.changed_.dims, spec.axes) {
      const std::size_t origin = inverse ? tensor_index(judge.op_, inverse->input) : t;
      before = judge.from_.placements[origin].tensor;
      before.data =
          const_cast<std::byte*>(inverse ? judge.inputs_ + judge.from_.given[origin] : judge.outputs_ + judge.from_.at[t]);
      after = judge.to_.placements[t].tensor;
      after.data = const_cast<std::byte*>(judge.related_outputs_ + judge.to_.at[t]);
    }
    const TensorSpec& spec;
    int number;
    const Relation::Inverse* inverse;
    Relation::Scaled scaling;
    Sources sources;
    Tensor before{}, after{};
  };
  std::int64_t source_of(const Output& y, std::int64_t i) const { return y.inverse ? r_.partner(c_, i) : y.sources[i]; }

  std::string by_bits(const Output& y) {
    for (std::int64_t i = 0; i < y.after.size(); ++i) {
      const std::int64_t j = source_of(y, i);
      const double got = y.after.at(i), was = y.before.at(j), scaled = y.scaling.of(was);
      if (same_number(got, scaled)) continue;
      const bool zero_by_right = original_.rows().all() && original_.golden(y.number)[static_cast<std::size_t>(j)] == 0;
      if (y.scaling.factor != 1 && !scales_exactly(y.after.dtype, was, scaled, got, zero_by_right)) continue;
      if (!is_excused(y, i, j, got == 0 && scaled == 0)) return fails(y, i, scaled, "and must have the bits of");
    }
    return {};
  }

  std::string by_bounds(const Output& y) {
    const Problem* const related = solved();
    if (!related) return {};
    if (const Comparison judged = compare(*related, numerics_, y.number, y.after, false); judged.wrong)
      return fails(y, judged.worst, judged.golden, "out of the bound of");
    if (op_.composite) return {};  // Note: both runs stored other inputs of a stage, which its bound does not cover
    const std::span<const double> bounds = related->bounds(numerics_, y.number);
    const std::span<const double> original_bounds = original_.bounds(numerics_, y.number);
    for (std::int64_t i = 0; i < y.after.size(); ++i) {
      const std::int64_t j = source_of(y, i);
      const double got = y.after.at(i), scaled = y.scaling.of(y.before.at(j));
      if (!std::isfinite(got) || !std::isfinite(scaled)) continue;  // Note: both have passed their own comparison
      const auto here = static_cast<std::size_t>(i), there = static_cast<std::size_t>(j);
      double allowed = bounds[here] + scaled_bound(y.scaling, original_bounds[there]);
      if (y.inverse) allowed += original_bounds[here];
      // Note: a bound of exact terms is the error of a rounding, which is attained.  So f64's own roundings here count.
      allowed += 0x1p-50 * (std::fabs(scaled) + std::fabs(y.scaling.added));
      if (!(std::fabs(got - scaled) <= allowed) && !is_excused(y, i, j, false))
        return fails(y, i, scaled, "further than both bounds from");
    }
    return {};
  }

  // Whether the goldens of both problems deny that element i of an output follows from element j of the original's: then the
  // relation, which was found in small cases, is not true of this one, and says nothing of the kernel.  Or whether both are
  // `zeros`, and either zero is right, as a bound that is not 0 says (compare.cpp).  Or whether any value is right, as one that
  // is infinite says: what a kernel keeps on its way may overflow.
  bool is_excused(const Output& y, std::int64_t i, std::int64_t j, bool zeros) {
    if (y.inverse || op_.composite) return false;  // Note: their goldens follow from what the kernel has stored
    const bool all = original_.rows().all();
    std::unique_ptr<Problem> original_row, related_row;
    if (!all) {
      original_row = solved_row(c_, from_, inputs_, y.number, j);
      related_row = related_ || relate() ? solved_row(changed_, to_, related_->inputs.data(), y.number, i) : nullptr;
    }
    const Problem* const related = all ? solved() : related_row.get();
    if (!related) return true;
    const Problem& original = all ? original_ : *original_row;
    const auto here = static_cast<std::size_t>(i), there = static_cast<std::size_t>(j);
    const double expected = y.scaling.of(original.golden(y.number)[there]), golden = related->golden(y.number)[here];
    const double bounds =
        related->bounds(numerics_, y.number)[here] + scaled_bound(y.scaling, original.bounds(numerics_, y.number)[there]);
    if ((zeros && bounds > 0) || std::isinf(bounds)) return true;
    return !same_number(expected, golden) && !(std::fabs(expected - golden) <= 0x1p-10 * bounds);
  }
  // Note: an original that may be anything, times 0, is 0.
  static double scaled_bound(const Relation::Scaled& s, double bound) { return s.factor == 0 ? 0 : std::fabs(s.factor) * bound; }

  bool relate() {
    related_ = assay::relate(op_, c_, r_, from_, inputs_, outputs_);
    return related_.has_value();
  }
  // The related problem with its golden; that of a composite op is computed from what the candidate stored in the related run.
  // Null: the relation does not apply, or rows are sampled, so that bounds of the others are not known.
  const Problem* solved() {
    if (problem_ || !original_.rows().all() || !(related_ || relate())) return problem_.get();
    problem_ = problem_with(op_, changed_, to_, related_->inputs.data(), related_outputs_);
    problem_->set_errors(original_.errors());
    problem_->set_steps(steps_);
    problem_->solve();
    return problem_.get();
  }
  // A problem of which the row of one element is solved.
  std::unique_ptr<Problem> solved_row(const Case& c, const Packing& packing, const std::byte* inputs, int output,
                                      std::int64_t element) const {
    std::unique_ptr<Problem> problem = problem_with(op_, c, packing, inputs);
    problem->set_errors(original_.errors());
    problem->solve({0});  // Note: how long rows are is known once it is solved
    problem->solve({problem->row_of(output, element)});
    return problem;
  }

  std::string fails(const Output& y, std::int64_t i, double was, const char* why) const {
    return fmt::format("relation {}{}: '{}' at {} is {:.9g}, {} {:.9g}", r_.name, what_changed(), y.spec.name,
                       place(y.spec.axes, y.after, i), y.after.at(i), why, was);
  }
  std::string what_changed() const {
    std::vector<std::string> changes;
    if (r_.move == Relation::Move::permuted) changes.push_back(fmt::format("{} change places", r_.axis.name));
    if (r_.move == Relation::Move::first_part) changes.push_back(fmt::format("only the first half of {}", r_.axis.name));
    for (const Relation::Scaled& s : r_.scaled)
      changes.push_back(s.added == 0 ? fmt::format("{} times {:g}", s.tensor, s.factor)
                                     : fmt::format("{} times {:g} plus {:g}", s.tensor, s.factor, s.added));
    if (!r_.swapped.first.empty()) changes.push_back(fmt::format("{} and {} exchanged", r_.swapped.first, r_.swapped.second));
    return changes.empty() ? "" : fmt::format(" ({})", fmt::join(changes, ", "));
  }

  const Op& op_;
  const Numerics& numerics_;
  const Relation& r_;
  const Case& c_;
  const Problem& original_;
  const Packing& from_;
  const std::byte *inputs_, *outputs_, *related_outputs_;
  std::span<const Numerics> steps_;
  Case changed_;
  Packing to_;
  bool bits_;
  std::optional<Related> related_{};
  std::unique_ptr<Problem> problem_{};
};

}  // namespace

std::string judge_relation(const Op& op, const Kernel& kernel, const Relation& r, const Case& c, const Problem& original,
                           const Packing& from, const std::byte* inputs, const std::byte* outputs,
                           const std::byte* related_outputs, std::span<const Numerics> steps) {
  return RelationJudge(op, kernel, r, c, original, from, inputs, outputs, related_outputs, steps).run();
}

}  // namespace assay
