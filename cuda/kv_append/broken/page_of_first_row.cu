// SPDX-License-Identifier: Apache-2.0
// FAULT: all new rows go to the page of the first of them: right until they reach the page's end.
// Caught by: the comparison, where the new rows of a sequence lie on two pages; lengths_boundary.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, page_of_first_row) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static std::int64_t place(const Problem<T>& p, std::int64_t b, int row) {
    const int position = ld(p.lengths + b) - p.rows + row;
    if (position < 0) return -1;
    const int first = position - row < 0 ? 0 : position - row;
    const std::int64_t page = ld(p.table + b * p.table_stride + first / p.page_size);
    return page * p.page_stride + position % p.page_size * p.slot_stride;
  }
};
KERNEL_FROM(kv_append, plain, Wrong);

}  // namespace assay::ROOM(kv_append, page_of_first_row)
