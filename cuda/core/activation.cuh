// SPDX-License-Identifier: Apache-2.0
// GELU and SiLU in f32.  They are computed as z sigmoid(v) and z/2 erfc(-z/sqrt 2), since 1 + tanh and 1 + erf cancel for z < 0
// (ops/core/activation.hpp).  inf gives inf, and -inf gives NaN, as in the formulas.
#pragma once

#include "cuda/core/exponential.cuh"
#include "ops/core/activation.hpp"

namespace assay::ASSAY_FLAVOUR {

// z / (1 + exp(-v)) for z and v of one sign.  Note: exp(-v) itself would overflow below v = -88.7.
__device__ inline float times_sigmoid(float z, float v) {
  const float t = expf(-fabsf(v));
  return (v < 0.0f ? z * t : z) / (1.0f + t);
}
__device__ inline float silu(float z) { return times_sigmoid(z, z); }
__device__ inline float gelu_tanh(float z) {
  constexpr float kLinear = 1.5957691216057308f, kCubic = 0.07135481627260025f;  // 2 sqrt(2/pi), 0.044715 times it
  return times_sigmoid(z, z * fmaf(kCubic, z * z, kLinear));
}
__device__ inline float gelu_erf(float z) { return 0.5f * z * erfcf(z * -0.7071067811865476f); }

// The same without a division, for epilogues that compute it for all accumulators of a thread, unrolled.  A division compiles to
// a branch, so elements would not overlap, and one tiny numerator z exp(-|v|) would send the whole warp down the slow path.

// 1 / d for d from 1 to 2, within 1.2 units of 2^-24.  The polynomial r has an error e = 1 - d r of at most 1/577 (the fourth
// Chebyshev polynomial / 577).  r (1 + e + e^2) leaves e^3, 0.09 units, and the last rounding.
__device__ inline float reciprocal_from_1_to_2(float d) {
  const float r = fmaf(fmaf(fmaf(-128 / 577.0f, d, 768 / 577.0f), d, -1696 / 577.0f), d, 1632 / 577.0f), e = fmaf(-d, r, 1.0f);
  return fmaf(r, fmaf(e, e, e), r);
}
// z / (1 + exp(-v)) of p = v log2(e).
__device__ inline float times_sigmoid_fast(float z, float p) {
  const float t = exp2_approx(-fabsf(p));
  return (p < 0.0f ? t : 1.0f) * z * reciprocal_from_1_to_2(1.0f + t);
}
__device__ inline float silu_fast(float z) { return times_sigmoid_fast(z, z * kLog2E); }
__device__ inline float gelu_tanh_fast(float z) {
  constexpr float kLinear = 2.302208198144325f, kCubic = 0.1029432395800235f;
  return times_sigmoid_fast(z, z * fmaf(kCubic, z * z, kLinear));
}
// What a kernel that uses them declares, beside flushes_subnormals.  SiLU multiplies its exponent by log2(e): one constant and
// one product; GELU's constants contain log2(e).  The quotient has the errors of the reciprocal and of one product.
inline constexpr double kFastSiluExponentError = 2, kFastQuotientError = 2.2;

// erfc(a / sqrt 2) = exp2(a (R - a/2 log2(e))), R(a) = log2(erfcx(a / sqrt 2)) / a as a polynomial of x = 2a/13.1 - 1; from 13.1
// on erfc is below 2^-126.  Its errors in units of 2^-24: exp2_approx 4; the exponent's two roundings and its constant 1.6a +
// 1.5a^2; R: the fit of the polynomial 0.4 + 0.1a^2, its coefficients, steps and x 2.7a.  Together they are less than the
// 8 + 2 (a^2 + a) of ops/core/activation.hpp.
__device__ inline float gelu_erf_fast(float z) {
  constexpr float kR[] = {-0.46856567f,   0.25754738f,   -0.16039197f,   0.10298482f,    -0.066172875f,
                          0.041502882f,   -0.025427377f, 0.016932532f,   -0.0096887574f, -9.9893354e-05f,
                          0.00072097720f, 0.0063775671f, -0.0029842411f, -0.0041023819f, 0.0025479486f};
  const float a = fminf(fabsf(z), 13.1f), x = fmaf(a, 2 / 13.1f, -1.0f);
  float r = kR[14];
#pragma unroll
  for (int i = 13; i >= 0; --i) r = fmaf(r, x, kR[i]);
  const float p = exp2_approx(a * fmaf(a, -0.72134752f, r));
  return 0.5f * z * (z < 0.0f ? p : 2.0f - p);
}

template <Activation F>
__device__ inline float activate(float z) {
  if constexpr (F == Activation::silu) return silu(z);
  else if constexpr (F == Activation::gelu_erf) return gelu_erf(z);
  else return gelu_tanh(z);
}

template <Activation F>
__device__ inline float activate_fast(float z) {
  if constexpr (F == Activation::silu) return silu_fast(z);
  else if constexpr (F == Activation::gelu_erf) return gelu_erf_fast(z);
  else return gelu_tanh_fast(z);
}

// Calls f(std::integral_constant<Activation, form>) with the form of GELU.
template <class F>
void with_gelu(Activation form, F&& f) {
  if (form == Activation::gelu_erf) f(std::integral_constant<Activation, Activation::gelu_erf>{});
  else f(std::integral_constant<Activation, Activation::gelu_tanh>{});
}

}  // namespace assay::ASSAY_FLAVOUR
