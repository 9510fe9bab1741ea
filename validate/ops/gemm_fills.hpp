// SPDX-License-Identifier: Apache-2.0
// Fills of ops that are a product of tokens [tokens, hidden] with weights [features, hidden].
#pragma once

#include <bit>
#include <cstdlib>

#include "validate/values/draws.hpp"

namespace assay::gemm_fills {

using namespace draws;

inline std::int64_t hidden_of(const FillSite& s) { return s.dims[Axis::hidden]; }
// Enough terms that some are left of what is to cancel.
inline bool several_channels(const Dims& d, DType) { return d[Axis::hidden] >= 16; }

// 2^-h with h = floor(log2(hidden) / 2): normal tokens times normal weights scaled by it have a deviation of 1 to 2.
inline double unit_scale(const FillSite& s) {
  return random::power_of_two(-(std::bit_width(static_cast<std::uint64_t>(hidden_of(s))) - 1) / 2);
}
// A product of order one: what activations are sensitive to.
inline double unit(const FillSite& s, std::int64_t i) {
  return normal(s, i) * (s.role == Role::weight && s.shape.size() == 2 ? unit_scale(s) : 1);
}

// At most eight small integers a token, their places shifting from token to token; weights integers that differ from
// feature to feature and channel to channel: sums are integers below 128.
inline double probe_integers(const FillSite& s, std::int64_t i) {
  const std::int64_t hidden = hidden_of(s), row = i / hidden, h = i % hidden;
  if (s.role == Role::weight && s.shape.size() == 1) return static_cast<double>(i % 15 - 7);
  if (s.role == Role::weight) return static_cast<double>((row * 3 + h * 5 + s.tensor_index) % 15 - 7);
  const std::int64_t step = (hidden + 7) / 8, place = (h + hidden - row * 5 % hidden) % hidden;
  return place % step == 0 ? static_cast<double>((place / step + row) % 2 ? -2 : 1) : 0.0;
}

// One one a token: y is a column of the weight, bit for bit.
inline double probe_one_hot(const FillSite& s, std::int64_t i) {
  if (s.role == Role::weight) return s.shape.size() == 1 ? 0.0 : round_to(s.dtype, normal(s, i));
  return i % hidden_of(s) == (i / hidden_of(s) * 37) % hidden_of(s) ? 1.0 : 0.0;
}

// The second half of the channels takes the first half's terms away but for less than `part` of them: what is left shows every
// rounding on the way.
inline double cancelling_but(double part, const FillSite& s, std::int64_t i) {
  const std::int64_t hidden = hidden_of(s), half = hidden / 2, row = i / hidden, h = i % hidden;
  if ((s.role == Role::weight && s.shape.size() == 1) || h >= 2 * half) return normal(s, i) / 64;
  const double v = round_to(s.dtype == f32 ? bf16 : s.dtype, normal(s, row * hidden + h % half));
  if (s.role == Role::weight) return v;
  return h < half ? v : -v * (1 - part * random::uniform(random::key(s.seed, 9, Purpose::kind), at(i)));
}
inline double cancelling(const FillSite& s, std::int64_t i) { return cancelling_but(0x1p-7, s, i); }

// The integers of probe_integers, the weights and the bias 64 times as large: where GELU is the identity or 0 even in f64.
inline double probe_saturated(const FillSite& s, std::int64_t i) {
  return probe_integers(s, i) * (s.role == Role::weight ? 64 : 1);
}

// One one a token, so a product is one weight; the first weight's are by turns about GELU's minimum and SiLU's (-0.75, -1.28),
// [-6, -2], [-1, 1] and [-30, 30]; those of others are normal.
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

// unit, and one channel of every token 100 times as large.
inline double unit_outlier(const FillSite& s, std::int64_t i) {
  const std::int64_t hidden = hidden_of(s), row = i / hidden;
  const bool here = s.role == Role::input && i % hidden == random::index(shared_key(s, Purpose::column), at(row), hidden);
  return unit(s, i) * (here ? 100 : 1);
}

// Tokens about and below the least normal value, weights as large as that is small: y of order one.
inline double subnormal_tokens(const FillSite& s, std::int64_t i) {
  const int least = info(s.dtype).format.min_exponent;
  if (s.role == Role::input) return normal(s, i) * random::power_of_two(least);
  return s.shape.size() == 1 ? normal(s, i) : unit(s, i) * random::power_of_two(-least - 2);
}

// Tokens up to f16's largest value, weights so small that products and sums are moderate.
inline double large_tokens(const FillSite& s, std::int64_t i) {
  if (s.role == Role::input) return normal(s, i) < 0 ? -59000 + 1000 * normal(s, i) : 59000 + 1000 * normal(s, i);
  return s.shape.size() == 1 ? normal(s, i) : unit(s, i) / 4096;
}

inline constexpr Fill kUnit{.name = "unit", .shows = "an activation wrong where it bends", .value = unit, .scattered = true};
inline constexpr Fill kIntegers{.name = "probe_integers",
                                .shows = "an index, a feature or a channel that is not its own; exact",
                                .value = probe_integers,
                                .exact = always};
inline constexpr Fill kOneHot{
    .name = "probe_one_hot", .shows = "a channel dropped, doubled or moved; exact", .value = probe_one_hot, .exact = always};
inline constexpr Fill kSaturated{.name = "probe_saturated",
                                 .shows = "an index, a feature or a channel that is not its own; exact",
                                 .value = probe_saturated,
                                 .exact = always};
inline constexpr Fill kChosen{
    .name = "chosen", .shows = "another activation: tanh for erf, a coarse approximation", .value = chosen};
inline constexpr Fill kUnitOutlier{
    .name = "unit_outlier", .shows = "a small term lost beside a large one; saturated activations", .value = unit_outlier};
inline constexpr Fill kSubnormal{
    .name = "subnormal_tokens", .shows = "subnormals flushed to zero on their way in", .value = subnormal_tokens};
inline constexpr Fill kLarge{
    .name = "large_tokens", .shows = "a product or a sum that overflows the storage dtype on the way", .value = large_tokens};
inline constexpr Fill kCancelling{.name = "cancelling",
                                  .shows = "sums or products rounded to 16 bits on the way",
                                  .value = cancelling,
                                  .applies = several_channels,
                                  .scattered = true};

}  // namespace assay::gemm_fills
