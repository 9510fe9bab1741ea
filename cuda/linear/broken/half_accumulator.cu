// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum is kept in the storage dtype and the declaration says f32.
// Caught by: the bound, from a few channels on.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, half_accumulator) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float added(float sum, float x, float weight) { return to_float(from_float<T>(fmaf(x, weight, sum))); }
};
KERNEL_FROM(linear, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(linear, half_accumulator)
