// SPDX-License-Identifier: Apache-2.0
// Fills of ops that multiply tokens [tokens, hidden] by weights [features, hidden].
#pragma once

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>

#include "validate/values/draws.hpp"

namespace assay::gemm_fills {

using namespace draws;

inline std::int64_t hidden_of(const FillSite& s) { return s.dims[Axis::hidden]; }
// Enough terms for a cancelling sum with a remainder.
inline bool several_channels(const Dims& d, DType) { return d[Axis::hidden] >= 16; }

// 2^-h with h = floor(log2(hidden) / 2): normal tokens times normal weights scaled by it have a deviation of 1 to 2.
inline double unit_scale(const FillSite& s) {
  // Note: some libraries' bit_width is unsigned, and would be divided as such.
  return random::power_of_two(-(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(hidden_of(s)))) - 1) / 2);
}
// Products of order one, where activations are sensitive.
inline double unit(const FillSite& s, std::int64_t i) {
  return normal(s, i) * (s.role == Role::weight && s.shape.size() == 2 ? unit_scale(s) : 1);
}

// At most eight small nonzero integers per token, their places shifting from token to token; integer weights that differ from
// feature to feature and channel to channel: sums are integers below 128.
inline double probe_integers(const FillSite& s, std::int64_t i) {
  const std::int64_t hidden = hidden_of(s), row = i / hidden, h = i % hidden;
  if (s.role == Role::weight && s.shape.size() == 1) return static_cast<double>(i % 15 - 7);
  if (s.role == Role::weight) return static_cast<double>((row * 3 + h * 5 + s.tensor_index) % 15 - 7);
  const std::int64_t step = (hidden + 7) / 8, place = (h + hidden - row * 5 % hidden) % hidden;
  return place % step == 0 ? static_cast<double>((place / step + row) % 2 ? -2 : 1) : 0.0;
}

// A single 1 per token: y is a column of the weight, bit for bit.
inline double probe_one_hot(const FillSite& s, std::int64_t i) {
  if (s.role == Role::weight) return s.shape.size() == 1 ? 0.0 : round_to(s.dtype, normal(s, i));
  return i % hidden_of(s) == (i / hidden_of(s) * 37) % hidden_of(s) ? 1.0 : 0.0;
}

// The terms of the second half of the channels cancel those of the first half, but for less than `part` of each.  So any early
// rounding shows.
inline double cancelling_but(double part, const FillSite& s, std::int64_t i) {
  const std::int64_t hidden = hidden_of(s), half = hidden / 2, row = i / hidden, h = i % hidden;
  if ((s.role == Role::weight && s.shape.size() == 1) || h >= 2 * half) return normal(s, i) / 64;
  const double v = round_to(s.dtype == f32 ? bf16 : s.dtype, normal(s, row * hidden + h % half));
  if (s.role == Role::weight) return v;
  return h < half ? v : -v * (1 - part * random::uniform(random::key(s.seed, 9, Purpose::kind), at(i)));
}
inline double cancelling(const FillSite& s, std::int64_t i) { return cancelling_but(0x1p-7, s, i); }

// probe_integers with weights and bias 64 times as large, where GELU is the identity or 0 even in f64.
inline double probe_saturated(const FillSite& s, std::int64_t i) {
  return probe_integers(s, i) * (s.role == Role::weight ? 64 : 1);
}

// A single 1 per token, so every product equals one weight.  Values of the first weight cycle through ranges around the minima of
// GELU and SiLU (-0.75, -1.28), [-6, -2], [-1, 1] and [-30, 30]; other weights are normal.
inline double chosen(const FillSite& s, std::int64_t i) {
  if (s.role != Role::weight) return probe_one_hot(s, i);
  if (s.shape.size() == 1) return 0;
  if (s.tensor_index > 1) return normal(s, i);
  const double v = random::uniform(key(s, Purpose::kind), at(i));
  switch (i / hidden_of(s) % 4) {
    case 0: return -1.5 + v;
    case 1: return -6 + 4 * v;
    case 2: return 2 * v - 1;
    default: return 60 * v - 30;
  }
}

// As unit(), but one channel of every token is 100 times as large.
inline double unit_outlier(const FillSite& s, std::int64_t i) {
  const std::int64_t hidden = hidden_of(s), row = i / hidden;
  const bool here = s.role == Role::input && i % hidden == random::index(shared_key(s, Purpose::column), at(row), hidden);
  return unit(s, i) * (here ? 100 : 1);
}

// Tokens around and below the least normal value, weights correspondingly large: y is of order one.
inline double subnormal_tokens(const FillSite& s, std::int64_t i) {
  const int least = info(s.dtype).format.min_exponent;
  if (s.role == Role::input) return normal(s, i) * random::power_of_two(least);
  return s.shape.size() == 1 ? normal(s, i) : unit(s, i) * random::power_of_two(-least - 2);
}

// Tokens near f16's largest value, small weights: products and sums are moderate.
inline double large_tokens(const FillSite& s, std::int64_t i) {
  if (s.role == Role::input) return normal(s, i) < 0 ? -59000 + 1000 * normal(s, i) : 59000 + 1000 * normal(s, i);
  return s.shape.size() == 1 ? normal(s, i) : unit(s, i) / 4096;
}

// Puts NaN in place of the special value v into w2, which is multiplied by a GELU.  A GELU of a negative number may be so small
// that f32 rounds it to 0; times infinity that is NaN, where the exact product is infinite.
inline double behind_gelu(const FillSite& s, double v) { return s.tensor == "w2" ? value_of(Special::nan) : v; }

// Half of the tokens' values are zeros.  Of every 16 rows of a weight one has one NaN or infinity (in w2 always NaN), which meets
// them; not of w1, from which it would reach every output.
inline double special_weights(const FillSite& s, std::int64_t i) {
  if (s.role == Role::input) return draw(s, Purpose::kind, i, 2) ? 0 : normal(s, i);
  const std::int64_t row = i / s.shape.back(), rows = s.shape.size() == 2 ? s.shape[0] : 0;
  const std::int64_t period = std::min<std::int64_t>(rows, 16);
  const bool here = rows > 0 && s.tensor != "w1" && row % period == draw(s, Purpose::row, row / period, period) &&
                    i % s.shape.back() == draw(s, Purpose::column, row, s.shape.back());
  return here ? behind_gelu(s, special(draw(s, Purpose::kind, row, 3))) : unit(s, i);
}

// Every fourth token is all zeros.  Every eighth row of a weight matrix, except w1, ends with infinity (in w2 with NaN).
inline double infinite_tails(const FillSite& s, std::int64_t i) {
  const std::int64_t row = i / s.shape.back();
  if (s.role == Role::input) return row % 4 == 3 ? 0 : normal(s, i);
  const bool here = s.shape.size() == 2 && s.tensor != "w1" && row % 8 == 5 && i % s.shape.back() == s.shape.back() - 1;
  return here ? behind_gelu(s, std::numeric_limits<double>::infinity()) : unit(s, i);
}

// Every fifth unit is silent: its row of w1 or w_gate and its bias are zeros, so that its activation is 0 in any precision.  It
// meets NaN or an infinity, in one channel of its row of w_up or in its column of w2, there for every eighth output.
inline double silent_units(const FillSite& s, std::int64_t i) {
  if (s.role == Role::input) return normal(s, i);
  const std::int64_t row = i / s.shape.back(), col = i % s.shape.back();
  const auto silent = [](std::int64_t unit) { return unit % 5 == 3; };
  if (s.tensor == "b1") return silent(i) ? 0 : normal(s, i);
  if (s.shape.size() == 1) return normal(s, i);
  if ((s.tensor == "w1" || s.tensor == "w_gate") && silent(row)) return 0;
  const bool met = s.tensor == "w_up" ? silent(row) && col == draw(s, Purpose::column, row, s.shape.back())
                                      : s.tensor == "w2" && silent(col) && row % 8 == 2;
  return met ? special(draw(s, Purpose::kind, row, 3)) : unit(s, i);
}

inline constexpr Fill kSilentUnits{
    .name = "silent_units", .shows = "a unit of activation 0 skipped although it meets NaN or infinity", .value = silent_units};
inline constexpr Fill kSpecialWeights{
    .name = "special_weights", .shows = "zeros that are passed over: 0 times NaN or infinity lost", .value = special_weights};
inline constexpr Fill kInfiniteTails{.name = "infinite_tails",
                                     .shows = "a token of zeros skipped; a read past the last channel that repeats the last one",
                                     .value = infinite_tails};
inline constexpr Fill kUnit{
    .name = "unit", .shows = "an activation that is wrong near its bends", .value = unit, .scattered = true};
inline constexpr Fill kIntegers{
    .name = "probe_integers", .shows = "a wrong index, feature or channel; exact", .value = probe_integers, .exact = always};
inline constexpr Fill kOneHot{.name = "probe_one_hot",
                              .shows = "a channel dropped, counted twice or moved; exact",
                              .value = probe_one_hot,
                              .exact = always};
inline constexpr Fill kSaturated{
    .name = "probe_saturated", .shows = "a wrong index, feature or channel; exact", .value = probe_saturated, .exact = always};
inline constexpr Fill kChosen{
    .name = "chosen", .shows = "the wrong activation form, or a coarse approximation of it", .value = chosen};
inline constexpr Fill kUnitOutlier{
    .name = "unit_outlier", .shows = "a small term lost next to a large one; saturated activations", .value = unit_outlier};
inline constexpr Fill kSubnormal{
    .name = "subnormal_tokens", .shows = "subnormal inputs flushed to zero", .value = subnormal_tokens};
inline constexpr Fill kLarge{
    .name = "large_tokens", .shows = "a product or sum that overflows the storage dtype before the end", .value = large_tokens};
inline constexpr Fill kCancelling{.name = "cancelling",
                                  .shows = "sums or products rounded to 16 bits before the end",
                                  .value = cancelling,
                                  .applies = several_channels,
                                  .scattered = true};

}  // namespace assay::gemm_fills
