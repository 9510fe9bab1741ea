// SPDX-License-Identifier: Apache-2.0
// FAULT: whether a row is skipped is asked of its page, position / page_size, which C++ rounds towards zero: positions just
// below zero get page 0 and a negative slot.
// Kind: offsets
// Shows: a sequence shorter than the new rows, with page_size > 1.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, negative_position_rounds_to_zero) {

template <class T>
struct Steps : Plain<T> {
  __device__ static std::int64_t place(const Problem<T>& p, std::int64_t b, int row) {
    const int position = ld(p.lengths + b) - p.rows + row, index = position / p.page_size;
    if (index < 0) return -1;
    const std::int64_t page = ld(p.table + b * p.table_stride + index);
    const std::int64_t at = page * p.page_stride + position % p.page_size * p.slot_stride;
    return at;
  }
};
KERNEL_FROM(kv_append, plain, Steps);

}  // namespace assay::ROOM(kv_append, negative_position_rounds_to_zero)
