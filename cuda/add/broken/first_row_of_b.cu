// SPDX-License-Identifier: Apache-2.0
// FAULT: b taken for a bias: its first row is added to every row. Right for one row, and for equal rows.
// Caught by: the exact probe probe_integers, and the bound on any random input of several rows.
#include "cuda/add/broken/plain.cuh"

namespace assay::ROOM(add, first_row_of_b) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static void element(const Matrices<T>& m, std::int64_t row, std::int64_t col) {
    m.store(row, col, m.a_at(row, col) + m.b_at(0, col));
  }
};
KERNEL_FROM(add, plain, Wrong);

}  // namespace assay::ROOM(add, first_row_of_b)
