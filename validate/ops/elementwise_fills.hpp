// SPDX-License-Identifier: Apache-2.0
// Fills of element-wise ops.
#pragma once

#include "validate/values/draws.hpp"

namespace assay::elementwise_fills {

using namespace draws;

// Integers that differ from column to column, row to row and tensor to tensor; the first ones are positive.
inline double small_integers(const FillSite& s, std::int64_t i) {
  const std::int64_t cols = s.shape.back(), row = i / cols, col = i % cols;
  return static_cast<double>((row * 7 + col * 3 + s.tensor_index * 11 + 45) % 61 - 30);
}

// Values where activations bend.  One in eight is a place of trouble: the minimum of GELU or SiLU, GELU's tail, 0, or where exp
// of the value or of its negative overflows or vanishes in f32.  The others are uniform in [-8, 8).
inline double bends(const FillSite& s, std::int64_t i) {
  static constexpr double kPlaces[] = {-0.751791, -1.278465, -5.25, -3.5, 0, 30, -30, 89, -89, -104};
  constexpr std::int64_t kCount = std::size(kPlaces);
  if (draw(s, Purpose::kind, i, 8)) return 16 * uniform(s, i) - 8;
  return kPlaces[draw(s, Purpose::exponent, i, kCount)];
}

// Nonzero multiples of 1024, where GELU and SiLU are the identity or zero even in f64.
inline double saturated(const FillSite& s, std::int64_t i) {
  const double v = small_integers(s, i);
  return 1024 * (v == 0 ? 1 : v);
}

// 13 special values: zeros of both signs, NaN, infinities, 1, -1, 8, -8, the largest numbers, the least normal one and half of it
// below zero.  In every 169 elements each pair of them occurs once, the first value in the first tensor.
inline double special_pairs(const FillSite& s, std::int64_t i) {
  const FloatFormat f = info(s.dtype).format;
  const double largest = random::power_of_two(f.max_exponent) * (2 - random::power_of_two(1 - f.precision));
  const double least = random::power_of_two(f.min_exponent);
  const double values[] = {0.0, -0.0, special(0), special(1), special(2), 1, -1, 8, -8, largest, -largest, least, -least / 2};
  constexpr std::int64_t kCount = std::size(values);
  return values[(s.tensor_index == 0 ? i : i / kCount) % kCount];
}

inline constexpr Fill kSpecialPairs{
    .name = "special_pairs", .shows = "a zero, infinity or NaN of one operand that hides the other's", .value = special_pairs};
inline constexpr Fill kBends{.name = "bends", .shows = "an inaccurate activation, a tail cut off", .value = bends};

}  // namespace assay::elementwise_fills
