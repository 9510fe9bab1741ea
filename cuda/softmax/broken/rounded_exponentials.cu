// SPDX-License-Identifier: Apache-2.0
// FAULT: the exponentials wait in y, in the storage dtype, for their sum, and the declaration does not say so.
// Caught by: T1, at about one element in ten of any random row.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, rounded_exponentials) {

KERNEL(softmax){
    .dtypes = {f16, bf16},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ float waiting(float term) { return to_float(from_float<T>(term)); }
};

void run(const softmax::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(softmax, rounded_exponentials)
