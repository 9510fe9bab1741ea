// SPDX-License-Identifier: Apache-2.0
// The special function unit of a GPU, as an H200 computes: its ex2, rcp, rsqrt, sqrt and lg2 bit for bit, for every argument.
// The leading 6 or 7 bits of the fraction choose a segment with integers c0, c1, c2; x being the other bits, the result is
// c0 + c1·x + c2·s(x), cut to 24 bits.  s(x) is the square of x without its low columns: of the products of two of its bits only
// those whose weight is at least a bound are added (Oberman and Siu 2005 describe such a unit).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace simt::detail {

struct Segment {
  std::int64_t c0;
  std::int32_t c1, c2;
};
extern const Segment kPower[64], kReciprocal[128], kReciprocalRoot[128], kRoot[128], kLogarithm[64];

inline constexpr std::uint32_t kOneNaN = 0x7fffffffu, kInfinity = 0x7f800000u;

// s(x) of `Bits` bits: x² without products below 2^(2·Bits - 15), in units of that.
template <int Bits>
constexpr std::uint32_t cut_square(std::uint32_t x) {
  constexpr int kCut = 2 * Bits - 15;
  std::uint32_t s = 0;
#pragma GCC unroll 8
  for (int i = (kCut + 1) / 2; i < Bits; ++i)
    s += (0u - (x >> i & 1u)) & (((x & ((1u << i) - 1)) >> (kCut - 1 - i)) + (1u << (2 * i - kCut)));
  return s;
}

// A segment's value at x, in units of 2^-17 of the last place.
template <int Bits>
std::int64_t interpolated(const Segment* segments, std::uint32_t fraction) {
  const Segment& s = segments[fraction >> Bits];
  const std::uint32_t x = fraction & ((1u << Bits) - 1);
  return s.c0 + s.c1 * static_cast<std::int64_t>(x) + static_cast<std::int64_t>(s.c2) * cut_square<Bits>(x);
}

// The functions with .ftz: subnormal arguments count as zero, and so do subnormal results.  Of the others, which scale such
// arguments, see ptx/approximate.cpp.

// ex2.approx.ftz.f32, in two steps: the argument in units of 2^-23, whose low 23 bits are interpolated, and the result.
inline std::int32_t power_argument(float v) {
  // Note: a negative argument is cut and, unless that is a whole number, complemented: it becomes one unit too small.
  const auto cut = static_cast<std::int32_t>(v > -127 ? (v < 128 ? v : 0) * 0x1p23f : 0);
  return cut - static_cast<std::int32_t>((cut < 0) & ((cut & 0x7fffff) != 0));
}
inline float power_result(float v, std::int32_t argument, std::uint32_t interpolation) {
  const auto bits = (static_cast<std::uint32_t>((argument >> 23) + 126) << 23) + interpolation;
  const std::uint32_t finite = v < -126 ? 0 : v >= 128 ? kInfinity : bits;
  return std::bit_cast<float>(v != v ? kOneNaN : finite);
}
inline float special_power(float v) {
  const std::int32_t n = power_argument(v);
  return power_result(v, n,
                      static_cast<std::uint32_t>(interpolated<17>(kPower, static_cast<std::uint32_t>(n) & 0x7fffffu) >> 17));
}

// rcp.approx.ftz.f32
inline float special_reciprocal(float v) {
  const auto u = std::bit_cast<std::uint32_t>(v), sign = u & 0x80000000u, e = u >> 23 & 255u;
  if (v != v) return std::bit_cast<float>(kOneNaN);
  if (e == 0) return std::bit_cast<float>(sign | kInfinity);
  if (e == 255) return std::bit_cast<float>(sign);
  const std::int64_t y = std::min<std::int64_t>(interpolated<16>(kReciprocal, u & 0x7fffffu) >> 17, 1 << 24);  // in (2^23, 2^24]
  const std::int32_t bits = ((253 - static_cast<std::int32_t>(e)) * (1 << 23)) + static_cast<std::int32_t>(y - (1 << 23));
  return std::bit_cast<float>(bits < 1 << 23 ? sign : sign | static_cast<std::uint32_t>(bits));
}

// rsqrt.approx.ftz.f32
inline float special_reciprocal_root(float v) {
  const auto u = std::bit_cast<std::uint32_t>(v), e = u >> 23 & 255u;
  if (e == 0) return std::bit_cast<float>((u & 0x80000000u) | kInfinity);
  if (v != v || v < 0) return std::bit_cast<float>(kOneNaN);
  if (e == 255) return 0;
  const std::uint32_t odd = ~e & 1u;  // of the exponent e - 127
  std::int64_t y = interpolated<17>(kReciprocalRoot, odd << 23 | (u & 0x7fffffu)) >> 17;
  if (odd == 0 && (u & 0x7fffffu) == 0) y = 1 << 24;  // of a power of 4 it is exact
  const std::int32_t half = (static_cast<std::int32_t>(e) - 127 - static_cast<std::int32_t>(odd)) / 2;
  return std::bit_cast<float>(static_cast<std::uint32_t>((126 - half) * (1 << 23) + static_cast<std::int32_t>(y - (1 << 23))));
}

// sqrt.approx.ftz.f32
inline float special_root(float v) {
  const auto u = std::bit_cast<std::uint32_t>(v), e = u >> 23 & 255u;
  if (e == 0) return std::bit_cast<float>(u & 0x80000000u);
  if (v != v || v < 0) return std::bit_cast<float>(kOneNaN);
  if (e == 255) return v;
  const std::uint32_t odd = ~e & 1u;
  const auto y = static_cast<std::int32_t>(interpolated<17>(kRoot, odd << 23 | (u & 0x7fffffu)) >> 17);
  const std::int32_t half = (static_cast<std::int32_t>(e) - 127 - static_cast<std::int32_t>(odd)) / 2;
  return std::bit_cast<float>(static_cast<std::uint32_t>((127 + half) * (1 << 23) + y - (1 << 23)));
}

// lg2.approx.ftz.f32
inline float special_logarithm(float v) {
  const auto u = std::bit_cast<std::uint32_t>(v), e = u >> 23 & 255u;
  if (e == 0) return std::bit_cast<float>(0x80000000u | kInfinity);
  if (v != v || v < 0) return std::bit_cast<float>(kOneNaN);
  if (e == 255) return v;
  const std::int64_t whole = (static_cast<std::int64_t>(e) - 127) * (std::int64_t{1} << 41);
  constexpr std::int64_t kUnit = 32;  // of the sum: 2^-36
  const std::int64_t fraction = v == 1 ? 0 : interpolated<17>(kLogarithm, u & 0x7fffffu) & -kUnit;
  // Note: a negative sum is complemented, so that its magnitude is one unit too small.
  const std::int64_t sum = whole + fraction, magnitude = sum < 0 ? -sum - kUnit : sum;
  const int low = std::max(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(magnitude))) - 24, 0);  // bits that are cut
  const float cut = std::ldexp(static_cast<float>(magnitude >> low), low - 41);
  return sum < 0 ? -cut : cut;
}

}  // namespace simt::detail
