// SPDX-License-Identifier: Apache-2.0
// The rotations of rotary position embedding: angles in f64, reduced by whole turns, and their cosines and sines in f32.
#pragma once

#include "cuda/core/kernel.cuh"

namespace assay::ASSAY_FLAVOUR {

// t = position 2^(-i step) in f64.  The exponent, at most 60 in size, has the roundings of log2 (2 units of 2^-53), the division
// and the product: 4 * 60 ln 2 < 167 units of t.  exp2 adds 4, the product 1, 2 pi under 1: below 2^-45 = 2^-21 of f32's unit.
inline constexpr double kAngleError = 0x1p-21;
__device__ inline double angle_of(double step, int i, std::int64_t position) {
  return static_cast<double>(position) * exp2(-step * i);
}

struct alignas(8) Rotation {
  float cosine, sine;
};
// The angle less its whole turns is rounded to f32, by at most half an ulp of pi: 2^-23 = 2 * 2^-24.  Numerics::function_error
// has the rounding of the functions.
inline constexpr double kReducedAngleError = 2;
__device__ inline Rotation rotation_by(double angle) {
  constexpr double kTurn = 6.283185307179586, kTurns = 0.15915494309189535;
  const float rest = static_cast<float>(fma(-kTurn, rint(angle * kTurns), angle));
  return {cosf(rest), sinf(rest)};
}

// The pair (a, b), rotated.
struct Pair {
  float a, b;
};
__device__ inline Pair rotated(const Rotation& t, float a, float b) {
  return {fmaf(a, t.cosine, -(b * t.sine)), fmaf(a, t.sine, b * t.cosine)};
}

}  // namespace assay::ASSAY_FLAVOUR
