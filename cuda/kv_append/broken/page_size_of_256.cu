// SPDX-License-Identifier: Apache-2.0
// FAULT: pages are taken to have 256 slots.
// Caught by: the comparison or a stray write with any other page size, where a position is beyond the first page.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, page_size_of_256) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static std::int64_t place(const Problem<T>& p, std::int64_t b, int row) {
    const int position = ld(p.lengths + b) - p.rows + row;
    if (position < 0) return -1;
    const std::int64_t page = ld(p.table + b * p.table_stride + position / 256);
    return page * p.page_stride + position % 256 % p.page_size * p.slot_stride;
  }
};
KERNEL_FROM(kv_append, plain, Wrong);

}  // namespace assay::ROOM(kv_append, page_size_of_256)
