// SPDX-License-Identifier: Apache-2.0
// FAULT: both sums are kept in the storage dtype and the declaration says f32.
// Caught by: T1, from a few channels on.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, half_accumulator) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float added(float sum, float x, float w) { return to_float(from_float<T>(fmaf(x, w, sum))); }
};
KERNEL_FROM(gemm_swiglu, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(gemm_swiglu, half_accumulator)
