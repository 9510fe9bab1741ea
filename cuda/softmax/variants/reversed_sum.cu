// SPDX-License-Identifier: Apache-2.0
// A row a block, its columns taken from the last to the first.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, reversed_sum) {

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Reversed : Steps<T> {
  static __device__ std::int64_t taken(std::int64_t col, std::int64_t cols) { return cols - 1 - col; }
};

void run(const softmax::Args& a, const Launch& l) { run_plain<Reversed>(a, l); }

}  // namespace assay::ROOM(softmax, reversed_sum)
