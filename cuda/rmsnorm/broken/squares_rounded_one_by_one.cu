// SPDX-License-Identifier: Apache-2.0
// FAULT: each square is made in f16, two at a time, and only their sum is kept in f32.
// Kind: precision
// Caught by: the bound, with rows=259 cols=1 (f16).
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, squares_rounded_one_by_one) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float added_square(float sum, float v) { return sum + to_float(from_float<T>(v * v)); }
};
KERNEL_FROM(rmsnorm, plain, Wrong, {f16});

}  // namespace assay::ROOM(rmsnorm, squares_rounded_one_by_one)
