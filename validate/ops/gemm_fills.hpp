// SPDX-License-Identifier: Apache-2.0
// Fills of ops that are a product of tokens [tokens, hidden] with weights [features, hidden].
#pragma once

#include <bit>
#include <cstdlib>

#include "validate/fill.hpp"
#include "validate/random.hpp"

namespace assay::gemm_fills {

inline std::int64_t hidden_of(const FillSite& s) { return s.dims[Axis::hidden]; }
inline double normal(const FillSite& s, std::int64_t i) {
  return random::normal(random::key(s.seed, static_cast<std::uint64_t>(s.tensor_index), random::Purpose::value),
                        static_cast<std::uint64_t>(i));
}
inline bool always(const Dims&, DType) { return true; }

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

// The second half of the channels takes the first half's terms away but for one part in 256: what is left shows every
// rounding on the way.
inline double cancelling(const FillSite& s, std::int64_t i) {
  const std::int64_t hidden = hidden_of(s), half = hidden / 2, row = i / hidden, h = i % hidden;
  if ((s.role == Role::weight && s.shape.size() == 1) || h >= 2 * half) return normal(s, i) / 64;
  const double v = round_to(s.dtype == f32 ? bf16 : s.dtype, normal(s, row * hidden + h % half));
  if (s.role == Role::weight) return v;
  return h < half
             ? v
             : -v * (1 - 0x1p-7 * random::uniform(random::key(s.seed, 9, random::Purpose::kind), static_cast<std::uint64_t>(i)));
}

inline constexpr Fill kUnit{.name = "unit", .shows = "an activation wrong where it bends", .value = unit};
inline constexpr Fill kIntegers{.name = "probe_integers",
                                .shows = "an index, a feature or a channel that is not its own; exact",
                                .value = probe_integers,
                                .exact = always};
inline constexpr Fill kOneHot{
    .name = "probe_one_hot", .shows = "a channel dropped, doubled or moved; exact", .value = probe_one_hot, .exact = always};
inline constexpr Fill kCancelling{.name = "cancelling",
                                  .shows = "sums or products rounded to 16 bits on the way",
                                  .value = cancelling,
                                  .applies = [](const Dims& d, DType) { return d[Axis::hidden] > 1; }};

}  // namespace assay::gemm_fills
