// SPDX-License-Identifier: Apache-2.0
// FAULT: factors are rounded to 11 bits, as TF32 does, and the declaration says f32.
// Caught by: the bound, on almost every case.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, narrow_factors) {

template <class T>
struct Wrong : Plain<T> {
  // Adding and taking away 2^13 times the value leaves its upper 11 bits.
  __device__ static float narrow(float v) {
    const float shifted = v * 8193.0f;
    return shifted - (shifted - v);
  }
  __device__ static float added(float sum, float x, float weight) { return fmaf(narrow(x), narrow(weight), sum); }
};
KERNEL_FROM(linear, plain, Wrong, {f32});

}  // namespace assay::ROOM(linear, narrow_factors)
