// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum of squares is not divided by the columns: an L2 norm.
// Caught by: the bound, on any fill with more than one column whose rows are not all zero.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, sum_for_mean) {

KERNEL(rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float inverse(const Rows<T>& m, float squares) { return 1.0f / sqrtf(squares + m.epsilon); }
};

void run(const rmsnorm::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(rmsnorm, sum_for_mean)
