// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum is kept in the storage dtype, as a kernel written for T throughout has it. Right in f32, and for few
// columns.
// Caught by: the bound in f16 and bf16 on stagnation, where the small terms no longer move the sum, and on any long row.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, half_accumulator) {

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ float sum_so_far(float sum) { return to_float(from_float<T>(sum)); }
};

void run(const softmax::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(softmax, half_accumulator)
