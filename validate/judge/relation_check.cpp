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

void solve_row(Problem& problem, int output, std::int64_t element) {
  problem.solve({0});  // Note: how long rows are is known once it is solved
  problem.solve({problem.row_of(output, element)});
}

// The related problem; that of a composite op is computed from what the candidate stored in the related run.
struct RelatedProblem {
  std::optional<Related> related{};
  std::unique_ptr<Problem> problem{};  // null: the relation does not apply
};
RelatedProblem related(const Op& op, const Case& c, const Relation& r, Errors errors, const Packing& from,
                       const std::byte* inputs, const std::byte* outputs, const std::byte* related_outputs = nullptr) {
  RelatedProblem s{.related = relate(op, c, r, from, inputs, outputs)};
  if (!s.related) return s;
  s.problem = problem_with(op, s.related->c, pack(op, s.related->c), s.related->inputs.data(), related_outputs);
  s.problem->set_errors(errors);
  return s;
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
      if (!is_float(x.dtype)) continue;
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

// Whether the goldens of both problems deny that an element of an output follows from one of the original's.  Then the relation,
// which was found in small cases, is not true of this one, and says nothing of the kernel.  `bounds`: of both elements together.
bool denied_by_goldens(const Relation::Scaled& s, double original, double related, double bounds) {
  const double expected = s.of(original);
  return !same_number(expected, related) && !(std::fabs(expected - related) <= 0x1p-10 * bounds);
}

}  // namespace

std::string judge_relation(const Op& op, const Kernel& kernel, const Relation& r, const Case& c, const Problem& original,
                           const Packing& from, const std::byte* inputs, const std::byte* outputs,
                           const std::byte* related_outputs, std::span<const Numerics> steps) {
  const bool bits = owes_bits(op, kernel, r, c, original, from, inputs);
  const bool bounds = !bits || (!r.within_bounds.empty() && r.move != Relation::Move::first_part);
  std::optional<RelatedProblem> solved;
  const auto related_problem = [&]() -> const Problem* {
    if (!original.rows().all()) return nullptr;  // Note: rows that are not sampled have no bound
    if (!solved) {
      solved = related(op, c, r, original.errors(), from, inputs, outputs, related_outputs);
      if (solved->problem) {
        solved->problem->set_steps(steps);
        solved->problem->solve();
      }
    }
    return solved->problem.get();
  };
  if (bounds && original.rows().all() && !related_problem()) return {};
  const Case changed = related_case(r, c);
  const Packing to = pack(op, changed);

  int output = -1;
  for (std::size_t t = 0; t < op.tensors.size(); ++t) {
    const TensorSpec& spec = op.tensors[t];
    if (spec.role != Role::output) continue;
    ++output;
    const bool loose = std::find(r.within_bounds.begin(), r.within_bounds.end(), spec.name) != r.within_bounds.end(),
               by_bits = bits && !loose;
    const Problem* const problem = by_bits ? nullptr : related_problem();
    if ((loose && r.move == Relation::Move::first_part) || (!by_bits && !problem)) continue;
    const Relation::Inverse* inverse = r.inverse_of(spec.name);
    const std::size_t origin = inverse ? tensor_index(op, inverse->input) : t;
    Tensor a = from.placements[origin].tensor, b = to.placements[t].tensor;
    a.data = const_cast<std::byte*>(inverse ? inputs + from.given[origin] : outputs + from.at[t]);
    b.data = const_cast<std::byte*>(related_outputs + to.at[t]);
    const auto fail = [&](std::int64_t i, double was, const char* why) {
      return fmt::format("relation {}: '{}' at {} is {:.9g}, {} {:.9g}", r.name, spec.name, place(spec.axes, b, i), b.at(i), why,
                         was);
    };
    if (!by_bits)
      if (const Comparison judged = compare(*problem, kernel.numerics, output, b, false); judged.wrong)
        return fail(judged.worst, judged.golden, "out of the bound of");
    if (!by_bits && op.composite) continue;  // Note: both runs stored other inputs of a stage, which its bound does not cover
    const Relation::Scaled s = r.scaling(spec.name);
    std::span<const double> related_bounds, original_bounds;
    if (!by_bits) {
      related_bounds = problem->bounds(kernel.numerics, output);
      original_bounds = original.bounds(kernel.numerics, output);
    }
    const Sources sources(r, c.dims, changed.dims, spec.axes);
    const auto is_denied = [&](std::size_t here, std::size_t there) {
      if (inverse || op.composite) return false;
      RelatedProblem row;  // of a sample, the two rows alone
      std::unique_ptr<Problem> original_row;
      if (!original.rows().all()) {
        row = related(op, c, r, original.errors(), from, inputs, outputs);
        original_row = problem_with(op, c, from, inputs);
        original_row->set_errors(original.errors());
        if (!row.related) return true;
        solve_row(*row.problem, output, static_cast<std::int64_t>(here));
        solve_row(*original_row, output, static_cast<std::int64_t>(there));
      }
      const Problem& of_original = original_row ? *original_row : original;
      const Problem* const of_related = original_row ? row.problem.get() : related_problem();
      return of_related && denied_by_goldens(s, of_original.golden(output)[there], of_related->golden(output)[here],
                                             of_related->bounds(kernel.numerics, output)[here] +
                                                 std::fabs(s.factor) * of_original.bounds(kernel.numerics, output)[there]);
    };
    for (std::int64_t i = 0; i < b.size(); ++i) {
      const std::int64_t j = inverse ? r.partner(c, i) : sources[i];
      const double got = b.at(i), was = a.at(j), scaled = s.of(was);
      if (same_number(got, scaled) || (got == 0 && scaled == 0)) continue;  // Note: the sign of a zero may depend on an order
      const auto here = static_cast<std::size_t>(i), there = static_cast<std::size_t>(j);
      if (by_bits) {
        const bool zero_by_right = original.rows().all() && original.golden(output)[there] == 0;
        if (s.factor != 1 && !scales_exactly(b.dtype, was, scaled, got, zero_by_right)) continue;
        if (is_denied(here, there)) continue;
        return fail(i, scaled, "and must have the bits of");
      }
      if (!std::isfinite(got) || !std::isfinite(scaled)) continue;  // Note: both have passed their own comparison
      // Note: an original that may be anything, times 0, is 0.
      double allowed = related_bounds[here] + (s.factor == 0 ? 0 : std::fabs(s.factor) * original_bounds[there]);
      if (inverse) allowed += original_bounds[here];
      // Note: a bound of exact terms is the error of a rounding, which is attained.  So f64's own roundings here count.
      allowed += 0x1p-50 * (std::fabs(scaled) + std::fabs(s.added));
      if (!(std::fabs(got - scaled) <= allowed) && !is_denied(here, there))
        return fail(i, scaled, "further than both bounds from");
    }
  }
  return {};
}

}  // namespace assay
