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

bool same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b)); }

// Whether scaling v to `scaled`, by a power of two, is exact: both are normal values, or v is a zero and did not underflow, since
// its golden is zero too (`zero_by_right`).  Note: the least normal value is left out, as a subnormal may be rounded up to it.
bool scales_exactly(DType t, double v, double scaled, bool zero_by_right) {
  const double least = random::power_of_two(info(t).format.min_exponent), most = overflow_threshold(t);
  const auto normal = [&](double x) { return std::fabs(x) > least && std::fabs(x) < most; };
  return v == 0 ? zero_by_right : normal(v) && normal(scaled);
}

std::string place(std::span<const Extent> axes, const Tensor& t, std::int64_t i) {
  std::string text;
  for (std::size_t a = axes.size(); a-- > 0; i /= t.shape[a])
    text = fmt::format("{} {}{}{}", axes[a].text(), i % t.shape[a], text.empty() ? "" : ", ", text);
  return text;
}

// The related problem with its golden; that of a composite op is computed from what the candidate stored in the related run.
struct Solved {
  std::optional<Related> related;
  std::unique_ptr<Problem> problem;  // null: the relation does not apply
};
Solved solve(const Op& op, const Case& c, const Relation& r, Errors errors, const Packing& from, const std::byte* inputs,
             const std::byte* outputs, const std::byte* related_outputs, std::span<const Numerics> steps) {
  Solved s{.related = relate(op, c, r, from, inputs, outputs), .problem = nullptr};
  if (!s.related) return s;
  const Packing to = pack(op, s.related->c);
  std::vector<std::byte*> images;
  for (std::size_t t = 0; t < op.tensors.size(); ++t)
    images.push_back(is_given(op.tensors[t]) ? s.related->inputs.data() + to.given[t]
                     : op.composite          ? const_cast<std::byte*>(related_outputs) + to.at[t]
                                             : nullptr);
  s.problem = op.make();
  s.problem->set_steps(steps);
  attach(*s.problem, s.related->c, to.placements, images);
  s.problem->set_errors(errors);
  s.problem->solve();
  return s;
}

// Whether the square of every finite given value is finite in the case's dtype and, where all rows have a golden, none is NaN or
// +inf.  Note: infinite and NaN inputs may be there to be hidden by a mask; -inf is the log-sum-exp of a query that sees no key.
bool within_range(const Op& op, const Case& c, const Problem& original, const Packing& from, const std::byte* inputs) {
  const double most = std::sqrt(overflow_threshold(c.dtype));
  int output = -1;
  for (std::size_t t = 0; t < op.tensors.size(); ++t) {
    if (is_given(op.tensors[t])) {
      Tensor x = from.placements[t].tensor;
      x.data = const_cast<std::byte*>(inputs + from.given[t]);
      if (!is_float(x.dtype)) continue;
      for (std::int64_t i = 0; i < x.size(); ++i)
        if (const double v = std::fabs(x.at(i)); v >= most && std::isfinite(v)) return false;
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

}  // namespace

std::string judge_relation(const Op& op, const Kernel& kernel, const Relation& r, const Case& c, const Problem& original,
                           const Packing& from, const std::byte* inputs, const std::byte* outputs,
                           const std::byte* related_outputs, std::span<const Numerics> steps) {
  const bool bits = owes_bits(op, kernel, r, c, original, from, inputs);
  const bool bounds = !bits || (!r.within_bounds.empty() && r.move != Relation::Move::first_part);
  Solved solved;
  if (bounds && original.rows().all()) {  // Note: rows that are not sampled have no bound
    solved = solve(op, c, r, original.errors(), from, inputs, outputs, related_outputs, steps);
    if (!solved.problem) return {};
  }
  const Problem* problem = solved.problem.get();
  const Case changed = related_case(r, c);
  const Packing to = pack(op, changed);

  int output = -1;
  for (std::size_t t = 0; t < op.tensors.size(); ++t) {
    const TensorSpec& spec = op.tensors[t];
    if (spec.role != Role::output) continue;
    ++output;
    const bool loose = std::find(r.within_bounds.begin(), r.within_bounds.end(), spec.name) != r.within_bounds.end(),
               by_bits = bits && !loose;
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
    for (std::int64_t i = 0; i < b.size(); ++i) {
      const std::int64_t j = inverse ? r.partner(c, i) : sources[i];
      const double got = b.at(i), was = a.at(j), scaled = s.of(was);
      if (same(got, scaled)) continue;
      if (by_bits) {
        const bool zero_by_right = original.rows().all() && original.golden(output)[static_cast<std::size_t>(j)] == 0;
        if (s.factor != 1 && !scales_exactly(b.dtype, was, scaled, zero_by_right)) continue;
        return fail(i, scaled, "and must have the bits of");
      }
      if (!std::isfinite(got) || !std::isfinite(scaled)) continue;  // Note: both have passed their own comparison
      // Note: an original that may be anything, times 0, is 0.
      const auto here = static_cast<std::size_t>(i), there = static_cast<std::size_t>(j);
      double allowed = related_bounds[here] + (s.factor == 0 ? 0 : std::fabs(s.factor) * original_bounds[there]);
      if (inverse) allowed += original_bounds[here];
      if (!(std::fabs(got - scaled) <= allowed)) return fail(i, scaled, "further than both bounds from");
    }
  }
  return {};
}

}  // namespace assay
