// SPDX-License-Identifier: Apache-2.0
// FAULT: a thread keeps its sum of squares in the storage dtype, whose largest value is 65504 in f16, and the declaration says
// f32, which is true of f32: f16 and bf16 only.
// Caught by: the bound, on rows of |x| about 8000 in f16, whose squares are infinite (large_rows), and on random fills from
// about a hundred columns on.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, half_squares) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr int kThreads = 32;
  __device__ static float added_square(float sum, float v) { return to_float(from_float<T>(fmaf(v, v, sum))); }
};
KERNEL_FROM(rmsnorm, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(rmsnorm, half_squares)
