// SPDX-License-Identifier: Apache-2.0
// FAULT: columns are counted in 16 bits: column 65,536 is column 0 again.
// Caught by: T1, and T4 by the two garbage patterns in y; more than 65,536 columns.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, short_columns) {

KERNEL(softmax){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ std::int64_t taken(std::int64_t col, std::int64_t) { return static_cast<unsigned short>(col); }
};

void run(const softmax::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(softmax, short_columns)
