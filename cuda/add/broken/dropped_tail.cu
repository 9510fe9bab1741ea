// SPDX-License-Identifier: Apache-2.0
// FAULT: the elements are taken in fours, and nothing takes the last ones of a row that are fewer: y keeps what it held.
// Caught by: the two garbage patterns in y, wherever cols % 4 != 0.
#include "cuda/add/broken/plain.cuh"

namespace assay::ROOM(add, dropped_tail) {

KERNEL(add){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32},
};

struct Wrong {
  template <class T>
  __device__ static void element(const Matrices<T>& m, std::int64_t row, std::int64_t col) {
    if (col < m.cols / 4 * 4) m.store(row, col, m.a_at(row, col) + m.b_at(row, col));
  }
};

void run(const add::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(add, dropped_tail)
