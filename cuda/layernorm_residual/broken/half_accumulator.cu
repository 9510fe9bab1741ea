// SPDX-License-Identifier: Apache-2.0
// FAULT: a thread keeps its sums in the storage dtype and the declaration says f32, which is true of f32: f16 and bf16 only.
// Caught by: the bound, on random fills from about a hundred columns on, plainly on those with a large mean.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, half_accumulator) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr int kThreads = 32;
  __device__ static float added(float sum, float x) { return to_float(from_float<T>(sum + x)); }
  __device__ static float added_square(float sum, float d) { return to_float(from_float<T>(fmaf(d, d, sum))); }
};
KERNEL_FROM(layernorm_residual, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(layernorm_residual, half_accumulator)
