// SPDX-License-Identifier: Apache-2.0
// FAULT: the columns are taken in fours, and nothing takes the cols % 4 that remain.
// Caught by: the comparison on probe_hot where cols % 4 != 0, and the bound on any such row.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, dropped_tail) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static std::int64_t end(std::int64_t cols) { return cols / 4 * 4; }
};
KERNEL_FROM(row_reduce, plain, Wrong);

}  // namespace assay::ROOM(row_reduce, dropped_tail)
