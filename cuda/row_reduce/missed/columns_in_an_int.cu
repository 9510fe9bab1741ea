// SPDX-License-Identifier: Apache-2.0
// FAULT: the number of columns is kept in an int: a tensor of 2^31 elements or more that is taken as one row has none.
// Kind: offset
// Caught by: nothing yet
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, columns_in_an_int) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static std::int64_t end(std::int64_t cols) {
    const int columns = static_cast<int>(cols);
    return columns;
  }
};
KERNEL_FROM(row_reduce, plain, Wrong);

}  // namespace assay::ROOM(row_reduce, columns_in_an_int)
