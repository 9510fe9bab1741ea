// SPDX-License-Identifier: Apache-2.0
// FAULT: the elements are taken in fours, and nothing takes the last ones of a row that are fewer: y keeps what it held.
// Caught by: the two garbage patterns in y, wherever cols % 4 != 0.
#include "cuda/add/broken/plain.cuh"

namespace assay::ROOM(add, dropped_tail) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static void element(const Matrices<T>& m, std::int64_t row, std::int64_t col) {
    if (col < m.cols / 4 * 4) Plain<T>::element(m, row, col);
  }
};
KERNEL_FROM(add, plain, Wrong);

}  // namespace assay::ROOM(add, dropped_tail)
