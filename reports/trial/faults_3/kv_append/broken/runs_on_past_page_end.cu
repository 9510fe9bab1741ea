// SPDX-License-Identifier: Apache-2.0
// FAULT: the page is looked up for the first new row only and later rows follow it in memory.
// Kind: algorithm
// Shows: sequences whose new rows cross the end of a page that is not followed by the next one.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, runs_on_past_page_end) {

template <class T>
struct RunsOn : Plain<T> {
  __device__ static std::int64_t place(const Problem<T>& p, std::int64_t b, int row) {
    const int start = ld(p.lengths + b) - p.rows, position = start + row;
    if (position < 0) return -1;
    const int first = start < 0 ? 0 : start;
    const std::int64_t at = Plain<T>::slot(p, b, first), slot = first % p.page_size + (position - first);
    return at + slot / p.page_size * p.page_stride + (slot % p.page_size - first % p.page_size) * p.slot_stride;
  }
};
KERNEL_FROM(kv_append, plain, RunsOn);

}  // namespace assay::ROOM(kv_append, runs_on_past_page_end)
