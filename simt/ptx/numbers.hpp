// SPDX-License-Identifier: Apache-2.0
// Arithmetic of single values as a GPU does it: one NaN for results, subnormals flushed where .ftz says so, narrow formats
// rounded once.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "half.hpp"

namespace simt::ptx {

enum class Round : std::uint8_t { nearest, zero, down, up };

// While it lives, the processor rounds this way.  Note: what it is meant for must lie in a function that is not inlined, or the
// compiler may move it out.  On x86 it sets the one register that counts, in a tenth of the time of fesetround().
class Rounding {
 public:
#if defined(__SSE__)
  explicit Rounding(Round to) {
    constexpr unsigned kModes[] = {0, 3, 1, 2};
    __builtin_ia32_ldmxcsr((was_ & ~0x6000u) | kModes[static_cast<int>(to)] << 13);
  }
  ~Rounding() { __builtin_ia32_ldmxcsr(was_); }

 private:
  unsigned was_ = __builtin_ia32_stmxcsr();
#else
  explicit Rounding(Round to) {
    constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(kModes[static_cast<int>(to)]);
  }
  ~Rounding() { std::fesetround(FE_TONEAREST); }
#endif
};

inline constexpr std::uint32_t kNaNBits = 0x7fffffffu;

inline float canonical(float v) { return v == v ? v : std::bit_cast<float>(kNaNBits); }
inline double canonical(double v) { return v; }
inline float flush(float v) {
  const auto u = std::bit_cast<std::uint32_t>(v);
  return std::bit_cast<float>((u & 0x7f800000u) == 0 ? u & 0x80000000u : u);
}
inline float saturate(float v) { return v > 0 ? (v < 1 ? v : 1.0f) : 0.0f; }  // NaN gives 0
inline double saturate(double v) { return v > 0 ? (v < 1 ? v : 1.0) : 0.0; }

// A format of `fraction` explicit bits whose exponents have this bias.  e4m3 has no infinity, and one NaN.
struct Narrow {
  int fraction, bias;
  std::uint32_t infinity;  // bits; of e4m3 one more than those of the largest finite value
  std::uint32_t nan;
};
inline constexpr Narrow kF16{10, 15, 0x7c00, 0x7fff}, kBF16{7, 127, 0x7f80, 0x7fff}, kE4M3{3, 7, 0x7f, 0x7f},
    kE5M2{2, 15, 0x7c, 0x7f};

// The bits of a double rounded once.  `finite`: what overflows becomes the largest finite value.
inline std::uint32_t narrow(double v, const Narrow& to, Round round, bool finite = false) {
  if (v != v) return to.nan;
  const auto sign_shift = static_cast<unsigned>(std::bit_width(to.infinity));
  const std::uint32_t sign = std::signbit(v) ? 1u << sign_shift : 0;
  const double a = std::fabs(v);
  if (a == 0) return sign;
  std::uint32_t bits = to.infinity;
  if (std::isfinite(a)) {
    const int e = std::max(std::ilogb(a), 1 - to.bias);
    const double scaled = std::ldexp(a, to.fraction - e);
    const bool away = (round == Round::up && sign == 0) || (round == Round::down && sign != 0);
    double whole = std::floor(scaled);
    const double rest = scaled - whole;
    if (round == Round::nearest) whole += rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) != 0);
    else if (away) whole += rest > 0;
    const double field = std::ldexp(e + to.bias - 1, to.fraction) + whole;
    bits = field < to.infinity ? static_cast<std::uint32_t>(field) : to.infinity;
    if (bits == to.infinity && (round == Round::zero || (round != Round::nearest && !away))) bits = to.infinity - 1;
  }
  if (finite && bits == to.infinity) bits = to.infinity - 1;
  return sign | bits;
}

inline double widen(std::uint32_t bits, const Narrow& from) {
  const auto sign_shift = static_cast<unsigned>(std::bit_width(from.infinity));
  const std::uint32_t magnitude = bits & ((1u << sign_shift) - 1);
  const double sign = bits >> sign_shift & 1 ? -1 : 1;
  const bool no_infinity = from.fraction == 3;
  if (magnitude > from.infinity || (no_infinity && magnitude == from.infinity)) return std::numeric_limits<double>::quiet_NaN();
  if (magnitude == from.infinity) return sign * HUGE_VAL;
  const int field = static_cast<int>(magnitude >> from.fraction);
  const double significand = magnitude - (static_cast<double>(field > 0 ? field - 1 : 0) * (1 << from.fraction));
  return sign * std::ldexp(significand, (field > 0 ? field : 1) - from.bias - from.fraction);
}

// The 16-bit types as values of their own, so that templates tell them from integers.
struct F16 {
  std::uint16_t bits;
};
struct BF16 {
  std::uint16_t bits;
};
inline float value(F16 v) { return device::to_float(device::half{v.bits}); }
inline float value(BF16 v) { return device::to_float(device::bfloat16{v.bits}); }
template <class H>
inline H rounded(float v) {
  if (v != v) return {0x7fff};
  if constexpr (std::is_same_v<H, F16>) return {device::to_half(v).bits};
  else return {device::to_bfloat16(v).bits};
}
template <class H>
inline H rounded(double v) {
  return {static_cast<std::uint16_t>(narrow(v, std::is_same_v<H, F16> ? kF16 : kBF16, Round::nearest))};
}

// a * b + c of 16-bit values, rounded once.  The product is exact in double; the sum is rounded to odd, so that the rounding to
// 16 bits sees whether anything was lost.
template <class H>
inline H fused(H a, H b, H c) {
  const double p = static_cast<double>(value(a)) * value(b), q = value(c), s = p + q;
  if (!std::isfinite(s)) return rounded<H>(s);
  const double t = s - p, error = (p - (s - t)) + (q - t);
  auto u = std::bit_cast<std::uint64_t>(s);
  if (error != 0 && (u & 1) == 0) u += (error > 0) == (s > 0) ? 1 : std::uint64_t{0} - 1;
  return rounded<H>(std::bit_cast<double>(u));
}

}  // namespace simt::ptx
