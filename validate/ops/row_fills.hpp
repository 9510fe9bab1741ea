// SPDX-License-Identifier: Apache-2.0
// Fills of ops that reduce a row to one value.
#pragma once

#include <bit>
#include <limits>

#include "validate/values/draws.hpp"

namespace assay::row_fills {

using namespace draws;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline std::int64_t row_of(const FillSite& s, std::int64_t i) { return i / s.shape.back(); }
inline std::int64_t col_of(const FillSite& s, std::int64_t i) { return i % s.shape.back(); }

// exp(100) and its sums overflow f32; exp(-200) underflows to 0.
inline double spread_200(const FillSite& s, std::int64_t i) { return 200 * uniform(s, i) - 100; }
// Every value is below -300: with a maximum that starts at zero, or from a padding column, every term is 0.
inline double all_far_below_zero(const FillSite& s, std::int64_t i) { return -400 + 4 * normal(s, i); }
// The rows lie at -2^17, -2^40, -2^100 and the lowest value of the dtype in turn, so below the lowest of f16; in f16 itself at
// -2^12, -2^14, -2^15 and the lowest.  About half of a row's columns hold its maximum, 1/64 higher than the others.
inline double lowest(const FillSite& s, std::int64_t i) {
  const FloatFormat f = info(s.dtype).format;
  const int exponents[] = {s.dtype == f16 ? 12 : 17, s.dtype == f16 ? 14 : 40, s.dtype == f16 ? 15 : 100};
  const std::int64_t height = row_of(s, i) % 4;
  const double low = height < 3 ? random::power_of_two(exponents[height])
                                : random::power_of_two(f.max_exponent) * (2 - random::power_of_two(1 - f.precision));
  return draw(s, Purpose::kind, i, 2) ? -low : low / 64 - low;
}
// Four values, the largest in a quarter of the columns.
inline double ties(const FillSite& s, std::int64_t i) { return 0.7 - 0.9 * static_cast<double>(draw(s, Purpose::kind, i, 4)); }
// The maximum grows from the first column to the last, so an online sum is rescaled at every step.
inline double rising(const FillSite& s, std::int64_t i) {
  const double place = static_cast<double>(col_of(s, i)) / static_cast<double>(s.shape.back());
  return 24 * place - 12 + 0.25 * normal(s, i);
}
// Of four rows one is all -inf, one has a single number; the others have -inf in an eighth of their columns.
inline double minus_infinity(const FillSite& s, std::int64_t i) {
  const std::int64_t row = row_of(s, i);
  if (row % 4 == 2) return -kInfinity;
  if (row % 4 == 1) return col_of(s, i) == draw(s, Purpose::column, row, s.shape.back()) ? normal(s, i) : -kInfinity;
  return draw(s, Purpose::kind, i, 8) == 0 ? -kInfinity : normal(s, i);
}

// One column of a row is 0, all others are lower by the row's distance (6, 10, 14, 17 or 20.5): alone their exponentials hardly
// count, together they may.
inline double faint_rest(const FillSite& s, std::int64_t i) {
  constexpr double kDistances[] = {6, 10, 14, 17, 20.5};
  const std::int64_t row = row_of(s, i);
  return col_of(s, i) == draw(s, Purpose::column, row, s.shape.back()) ? 0 : -kDistances[row % 5];
}

inline constexpr Fill kFaintRest{
    .name = "faint_rest", .shows = "small terms left out, which together count", .coherent = true, .value = faint_rest};
inline constexpr Fill kSpread200{.name = "spread_200", .shows = "exp without subtracting the maximum", .value = spread_200};
inline constexpr Fill kFarBelow{.name = "all_far_below_zero",
                                .shows = "a maximum that starts at zero, a padding column that is included",
                                .coherent = true,
                                .value = all_far_below_zero};
inline constexpr Fill kLowest{.name = "lowest",
                              .shows = "a maximum that starts at a finite value, or is taken for that of a masked row",
                              .coherent = true,
                              .value = lowest};
inline constexpr Fill kTies{.name = "ties", .shows = "tied maxima of which only one counts", .coherent = true, .value = ties};
inline constexpr Fill kRising{.name = "rising", .shows = "an online sum that is not rescaled", .coherent = true, .value = rising};
inline constexpr Fill kMinusInfinity{
    .name = "minus_infinity", .shows = "-inf treated as a number, rows of only -inf", .value = minus_infinity};

}  // namespace assay::row_fills
