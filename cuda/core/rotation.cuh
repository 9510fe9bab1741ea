// SPDX-License-Identifier: Apache-2.0
// The rotations of rotary position embedding: angles in f64, reduced by whole turns, and their cosines and sines in f32.
#pragma once

#include "cuda/core/kernel.cuh"

namespace assay::ASSAY_FLAVOUR {

// t = position 2^(-i step) in f64.  Its relative error in units of 2^-53: the exponent, at most 60 since base <= 2^60, has errors
// of log2 (2), the division and the product (1 each), which make 4 * 60 ln 2 < 167; exp2 adds 4, the product with the position 1,
// 2 pi less than 1.  Together they are below 2^8 units: 2^-45, or 2^-21 units of 2^-24.
inline constexpr double kAngleError = 0x1p-21;
__device__ inline double angle_of(double step, int i, std::int64_t position) {
  return static_cast<double>(position) * exp2(-step * i);
}

// t = position f for a frequency 0 <= f <= 1 of a table: exact, since the position has 24 bits and f has 24.  |t| <= 2^24 as
// above, so kAngleError, of which 2 pi alone is left, holds here too.
__device__ inline double angle_of(float frequency, std::int64_t position) {
  return static_cast<double>(position) * static_cast<double>(frequency);
}

struct alignas(8) Rotation {
  float cosine, sine;
};
// The angle less its whole turns is rounded to f32, by at most half an ulp of pi: 2^-23 = 2 * 2^-24.  Numerics::function_error
// covers the errors of cosf and sinf.
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
