// SPDX-License-Identifier: Apache-2.0
// FAULT: a row at a position below 0 is written to position 0.
// Caught by: the comparison on lengths_few: the newest row is the one that belongs there; and the two machines' orders of
// threads.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, padding_row_written) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static std::int64_t place(const Problem<T>& p, std::int64_t b, int row) {
    const int length = ld(p.lengths + b), position = length - p.rows + row;
    return length == 0 ? -1 : Plain<T>::slot(p, b, position < 0 ? 0 : position);
  }
};
KERNEL_FROM(kv_append, plain, Wrong);

}  // namespace assay::ROOM(kv_append, padding_row_written)
