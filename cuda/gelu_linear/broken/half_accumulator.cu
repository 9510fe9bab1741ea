// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum is kept in the storage dtype and the declaration says f32.
// Caught by: T1, from a few channels on.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, half_accumulator) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float added(float sum, float x, float w) { return to_float(from_float<T>(fmaf(x, w, sum))); }
};
KERNEL_FROM(gelu_linear, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(gelu_linear, half_accumulator)
