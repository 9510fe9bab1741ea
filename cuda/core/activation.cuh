// SPDX-License-Identifier: Apache-2.0
// GELU and SiLU in f32.  They are computed as z sigmoid(v) and z/2 erfc(-z/sqrt 2), since 1 + tanh and 1 + erf cancel for z < 0
// (ops/core/activation.hpp).  inf gives inf, and -inf gives NaN, as in the formulas.
#pragma once

#include "cuda/core/device.cuh"
#include "ops/core/activation.hpp"

namespace assay::ASSAY_FLAVOUR {

// z / (1 + exp(-v)) for z and v of one sign.  Note: exp(-v) itself would overflow below v = -88.7.
__device__ inline float times_sigmoid(float z, float v) {
  const float t = expf(-fabsf(v));
  return (v < 0.0f ? z * t : z) / (1.0f + t);
}
__device__ inline float silu(float z) { return times_sigmoid(z, z); }
__device__ inline float gelu_tanh(float z) {
  constexpr float kLinear = 1.5957691216057308f, kCubic = 0.07135481627260025f;  // 2 sqrt(2/pi), 0.044715 of it
  return times_sigmoid(z, z * fmaf(kCubic, z * z, kLinear));
}
__device__ inline float gelu_erf(float z) { return 0.5f * z * erfcf(z * -0.7071067811865476f); }

template <Activation F>
__device__ inline float activate(float z) {
  if constexpr (F == Activation::silu) return silu(z);
  else if constexpr (F == Activation::gelu_erf) return gelu_erf(z);
  else return gelu_tanh(z);
}

// Calls f(std::integral_constant<Activation, form>) with the form of GELU.
template <class F>
void with_gelu(Activation form, F&& f) {
  if (form == Activation::gelu_erf) f(std::integral_constant<Activation, Activation::gelu_erf>{});
  else f(std::integral_constant<Activation, Activation::gelu_tanh>{});
}

}  // namespace assay::ASSAY_FLAVOUR
