// SPDX-License-Identifier: Apache-2.0
// FAULT: rows are taken to lie side by side, as those of a contiguous matrix do.
// Caught by: the bound with layout padded, and the gaps between the rows of y.
#include "cuda/add/broken/plain.cuh"

namespace assay::ROOM(add, packed_strides) {

KERNEL(add){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32},
};

struct Wrong {
  template <class T>
  __device__ static void element(Matrices<T> m, std::int64_t row, std::int64_t col) {
    m.a_stride = m.b_stride = m.y_stride = m.cols;
    m.store(row, col, m.a_at(row, col) + m.b_at(row, col));
  }
};

void run(const add::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(add, packed_strides)
