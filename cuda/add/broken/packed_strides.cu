// SPDX-License-Identifier: Apache-2.0
// FAULT: rows are taken to lie side by side, as those of a contiguous matrix do.
// Caught by: the bound with layout padded, and the gaps between the rows of y.
#include "cuda/add/broken/plain.cuh"

namespace assay::ROOM(add, packed_strides) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static void element(Matrices<T> m, std::int64_t row, std::int64_t col) {
    m.a_stride = m.b_stride = m.y_stride = m.cols;
    Plain<T>::element(m, row, col);
  }
};
KERNEL_FROM(add, plain, Wrong);

}  // namespace assay::ROOM(add, packed_strides)
