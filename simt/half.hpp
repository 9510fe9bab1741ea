// SPDX-License-Identifier: Apache-2.0
// The 16-bit floats of a kernel: storage types with exact widening, and narrowing to nearest, ties to even.  A NaN stays a NaN
// with its sign and leading payload bits, made quiet.  The types have no arithmetic, since kernels compute in float.
#pragma once

#include <bit>
#include <cstdint>

namespace simt::device {

struct half {
  std::uint16_t bits;  // 1 sign, 5 exponent (bias 15), 10 fraction
};
struct bfloat16 {
  std::uint16_t bits;  // 1 sign, 8 exponent (bias 127), 7 fraction: the upper half of a float
};

// Conversions in integer arithmetic, for machines without a conversion instruction.
constexpr float widen(half h) {
  const std::uint32_t sign = (h.bits & 0x8000u) << 16, exponent = (h.bits >> 10) & 31u, fraction = h.bits & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13 | (fraction ? 0x400000u : 0u));
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // subnormal: exact
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}
constexpr half narrow_to_half(float v) {
  const std::uint32_t u = std::bit_cast<std::uint32_t>(v), magnitude = u & 0x7fffffffu, sign = u >> 16 & 0x8000u;
  std::uint32_t r = 0;
  if (magnitude > 0x7f800000u) r = 0x7e00u | (magnitude >> 13 & 0x3ffu);
  else if (magnitude >= 0x477ff000u) r = 0x7c00u;  // 65520 and more round to infinity
  else if (magnitude >= 0x38800000u) r = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  else if (magnitude > 0x33000000u) {  // above 2^-25, half the least subnormal
    const std::uint32_t fraction = (magnitude & 0x7fffffu) | 0x800000u, shift = 126u - (magnitude >> 23);
    const std::uint32_t half_unit = 1u << (shift - 1);
    r = (fraction + half_unit - 1 + (fraction >> shift & 1u)) >> shift;
  }
  return {static_cast<std::uint16_t>(sign | r)};
}

inline float to_float(float v) { return v; }
inline float to_float(bfloat16 v) { return std::bit_cast<float>(static_cast<std::uint32_t>(v.bits) << 16); }

#if defined(__F16C__) && defined(__has_builtin)
#if __has_builtin(__builtin_ia32_vcvtph2ps) && __has_builtin(__builtin_ia32_vcvtps2ph)
#define SIMT_F16C 1  // the built-ins, since <immintrin.h> would triple what a kernel file costs to parse
#endif
#endif
#if defined(SIMT_F16C)
using Floats = float __attribute__((vector_size(16)));
using Shorts = short __attribute__((vector_size(16)));
inline float to_float(half v) {
  const Shorts packed = {static_cast<short>(v.bits)};
  return static_cast<Floats>(__builtin_ia32_vcvtph2ps(packed))[0];
}
inline half to_half(float v) {
  const Floats wide = {v};
  return {static_cast<std::uint16_t>(static_cast<Shorts>(__builtin_ia32_vcvtps2ph(wide, 0))[0])};
}
#else
inline float to_float(half v) { return widen(v); }
inline half to_half(float v) { return narrow_to_half(v); }
#endif

inline bfloat16 to_bfloat16(float v) {
  const std::uint32_t u = std::bit_cast<std::uint32_t>(v);
  if ((u & 0x7fffffffu) > 0x7f800000u) return {static_cast<std::uint16_t>(u >> 16 | 0x40u)};
  return {static_cast<std::uint16_t>((u + 0x7fffu + (u >> 16 & 1u)) >> 16)};
}

}  // namespace simt::device
