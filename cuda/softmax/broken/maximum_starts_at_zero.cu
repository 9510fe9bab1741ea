// SPDX-License-Identifier: Apache-2.0
// FAULT: the maximum starts at 0 instead of -inf. Right where a row has a value above zero, and while exp does not
// underflow.
// Caught by: the class of the result on all_far_below_zero: 0 / 0.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, maximum_starts_at_zero) {

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ float first_maximum() { return 0; }
};

void run(const softmax::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(softmax, maximum_starts_at_zero)
