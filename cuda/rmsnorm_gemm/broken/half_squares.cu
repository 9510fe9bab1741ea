// SPDX-License-Identifier: Apache-2.0
// FAULT: the squares are summed in the storage dtype and the declaration says f32.
// Caught by: the bound; overflow on large_rows in f16.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, half_squares) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float added_square(float sum, float x) { return to_float(from_float<T>(fmaf(x, x, sum))); }
};
KERNEL_FROM(rmsnorm_gemm, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(rmsnorm_gemm, half_squares)
