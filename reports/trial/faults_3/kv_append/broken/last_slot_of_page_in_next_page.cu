// SPDX-License-Identifier: Apache-2.0
// FAULT: the page is that of the position after the new row, so the last slot of a page is written in the next page.
// Kind: offsets
// Shows: new rows at the last slot of a page.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, last_slot_of_page_in_next_page) {

template <class T>
struct NextPage : Plain<T> {
  __device__ static std::int64_t place(const Problem<T>& p, std::int64_t b, int row) {
    const int position = ld(p.lengths + b) - p.rows + row;
    if (position < 0) return -1;
    const std::int64_t page = ld(p.table + b * p.table_stride + (position + 1) / p.page_size);
    return page * p.page_stride + position % p.page_size * p.slot_stride;
  }
};
KERNEL_FROM(kv_append, plain, NextPage);

}  // namespace assay::ROOM(kv_append, last_slot_of_page_in_next_page)
