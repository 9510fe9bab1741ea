// SPDX-License-Identifier: Apache-2.0
// FAULT: exp(x) / sum of exp(x), the maximum forgotten. Right while every exp and their sum stay within f32.
// Caught by: the bound and the class of the result, where exp overflows or underflows: large_mean_100, spread_200,
// all_far_below_zero.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, maximum_not_subtracted) {

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ float base(float) { return 0; }
};

void run(const softmax::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(softmax, maximum_not_subtracted)
