// SPDX-License-Identifier: Apache-2.0
// FAULT: b is taken for constant where its first element equals the last one of its first row and the first one of its last
// row.
// Kind: cheats
// Shows: a b of two rows and two columns or more with these equal corners that is not constant.
#include "cuda/add/broken/plain.cuh"

namespace assay::ROOM(add, constant_b_guessed) {

template <class T>
struct Guessed : Plain<T> {
  __device__ static void element(const Matrices<T>& m, std::int64_t row, std::int64_t col) {
    const float corner = m.b_at(0, 0);
    const bool constant = m.rows > 1 && m.cols > 1 && corner == m.b_at(0, m.cols - 1) && corner == m.b_at(m.rows - 1, 0);
    m.store(row, col, m.a_at(row, col) + (constant ? corner : m.b_at(row, col)));
  }
};

KERNEL_FROM(add, plain, Guessed);

}  // namespace assay::ROOM(add, constant_b_guessed)
