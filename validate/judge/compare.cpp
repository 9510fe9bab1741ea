// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/compare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "validate/problem/bounds.hpp"

namespace assay {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// err/bound of one element; infinite if its class (finite, +inf, -inf, NaN) is wrong.  The right class is that of the golden
// rounded to the dtype.  If the golden is no further than its bound from the overflow threshold, finite and infinite are right.
// An infinite bound covers intermediate results that overflow.  It excuses any value where the golden is finite, and where it is
// infinite any that is not finite; with a `smaller_range` of sums or factors (Numerics::smaller_range) any there too.
double ratio(double got, double golden, double bound, bool exact, bool smaller_range, DType dtype) {
  if (std::isnan(golden)) return std::isnan(got) ? 0 : kInfinity;
  if (std::isinf(bound) && (smaller_range || std::isfinite(golden) || !std::isfinite(got))) return 0;
  const double rounded = round_to(dtype, golden);
  if (std::isinf(golden)) return got == golden ? 0 : kInfinity;
  if (exact) return got == rounded ? 0 : kInfinity;
  if (std::isinf(got)) {
    if (got == rounded) return 0;
    const bool near_threshold = overflow_threshold(dtype) - std::fabs(golden) <= bound;
    return near_threshold && std::signbit(got) == std::signbit(golden) ? 1 : kInfinity;
  }
  const double error = std::fabs(got - golden);
  // Note: nothing rounds where the bound is 0, so a zero has the sign that IEEE 754 gives it, that of what was copied.
  if (error == 0) return bound == 0 && std::signbit(got) != std::signbit(golden) ? kInfinity : 0;
  const double r = error / bound;
  // Note: where the golden rounds to infinity, a finite value beyond the bound is of the wrong class.
  if (std::isinf(rounded) && !(r <= 1)) return kInfinity;
  return r >= 0 ? r : kInfinity;  // Note: NaN, from a NaN value or a NaN bound, is infinitely wrong
}

// The bound of one element.  That of a case allows for any rounding to the dtype, up to half the spacing of the numbers above the
// golden.  A kernel rounds once, though, what lies within `before` of the golden, and rounding keeps order: so it stores a number
// from `least` to `most`, to which both ends are rounded.  What lies outside, though within the bound, gets a bound just below
// its own error, so that elements beyond the bound of the case are named before it.
double bound_of(double got, double golden, double bound, DType dtype) {
  if (dtype == f32 || dtype == f64 || !std::isfinite(got) || !std::isfinite(golden) || !std::isfinite(bound)) return bound;
  // Note: what f64 itself loses where the bound is little more than that rounding.
  constexpr double kLost = 0x1p-48;
  const double before = std::max(0.0, (bound - rounding_error(dtype, golden, 0)) / (1 + unit_roundoff(dtype))) + kLost * bound;
  const double least = round_to(dtype, golden - before), most = round_to(dtype, golden + before);
  const double error = std::fabs(got - golden);
  if (error > bound || (least <= got && got <= most)) return bound;
  return error * (1 - 0x1p-6);
}

void merge(Comparison& into, const Comparison& c) {
  into.compared += c.compared;
  into.wrong += c.wrong;
  into.loose += c.loose;
  into.error = std::max(into.error, c.error);
  into.powerless = into.powerless && c.powerless;
  into.zeros = into.zeros && c.zeros;
  into.zeros_or_unbounded = into.zeros_or_unbounded && c.zeros_or_unbounded;
  into.finite = into.finite || c.finite;
  if (c.worst >= 0 && (into.worst < 0 || c.margin > into.margin || (c.margin == into.margin && c.worst < into.worst))) {
    into.margin = c.margin;
    into.worst = c.worst;
    into.got = c.got;
    into.golden = c.golden;
    into.bound = c.bound;
  }
}

}  // namespace

Comparison compare(const Problem& problem, const Numerics& numerics, int output, const Tensor& got, bool exact) {
  const std::int64_t n = got.size();
  const std::span<const double> golden = problem.golden(output);
  Comparison all;

  constexpr std::int64_t kChunk = 4096;
  const SolvedElements solved(problem, output, n);
  const std::span<const double> bounds = exact ? std::span<const double>() : problem.bounds(numerics, output);
#pragma omp parallel
  {
    Comparison mine;
#pragma omp for schedule(static)
    for (std::int64_t chunk = 0; chunk < (solved.count() + kChunk - 1) / kChunk; ++chunk) {
      for (std::int64_t k = chunk * kChunk; k < std::min(solved.count(), (chunk + 1) * kChunk); ++k) {
        const std::int64_t i = solved[k];
        const double value = got.at(i), right = golden[static_cast<std::size_t>(i)];
        const double of_case = exact ? 0 : bounds[static_cast<std::size_t>(i)];
        const double bound = bound_of(value, right, of_case, got.dtype);
        const double r = ratio(value, right, bound, exact, numerics.smaller_range(), got.dtype);
        ++mine.compared;
        if (const double error = std::fabs(value - right); std::isfinite(error)) mine.error = std::max(mine.error, error);
        const bool zero_passes =
            ratio(0, right, bound_of(0, right, of_case, got.dtype), exact, numerics.smaller_range(), got.dtype) <= 1;
        if (!zero_passes) mine.powerless = false;
        if (round_to(got.dtype, right) != 0) {
          mine.zeros = false;
          mine.loose += zero_passes;
          mine.zeros_or_unbounded = mine.zeros_or_unbounded && std::isinf(of_case);
        }
        mine.finite = mine.finite || std::isfinite(right);
        if (mine.worst < 0 || r > mine.margin) {
          mine.margin = r;
          mine.worst = i;
          mine.got = value;
          mine.golden = right;
          mine.bound = bound;
        }
        if (!(r <= 1)) ++mine.wrong;
      }
    }
#pragma omp critical
    merge(all, mine);
  }
  return all;
}

void each_judged(const Problem& problem, const Numerics& numerics, int output, const Tensor& got, bool exact,
                 const std::function<void(const Element&)>& visit) {
  const std::span<const double> golden = problem.golden(output);
  const SolvedElements solved(problem, output, got.size());
  const std::span<const double> bounds = problem.bounds(numerics, output);
  for (std::int64_t k = 0; k < solved.count(); ++k) {
    Element e{.i = solved[k], .got = got.at(solved[k]), .golden = golden[static_cast<std::size_t>(solved[k])]};
    e.bound = exact ? 0 : bound_of(e.got, e.golden, bounds[static_cast<std::size_t>(e.i)], got.dtype);
    e.wrong = !(ratio(e.got, e.golden, e.bound, exact, numerics.smaller_range(), got.dtype) <= 1);
    visit(e);
  }
}

}  // namespace assay
