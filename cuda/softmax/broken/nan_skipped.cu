// SPDX-License-Identifier: Apache-2.0
// FAULT: a term that fails a comparison, as NaN does, is left out of the sum: one NaN in the row, where all of it should be.
// Caught by: T1, the class of the result; nan_in_row.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, nan_skipped) {

KERNEL(softmax){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ bool counts(float term) { return term >= 0; }
};

void run(const softmax::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(softmax, nan_skipped)
