// SPDX-License-Identifier: Apache-2.0
// FAULT: the row of the slot after the last new one is cleared, as if nobody else had written there.
// Caught by: the comparison: what is not written stays what it was.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, next_slot_cleared) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static void store(const Problem<T>& p, std::int64_t b, int row, std::int64_t from, std::int64_t to) {
    Plain<T>::store(p, b, row, from, to);
    const int slot = (ld(p.lengths + b) - 1) % p.page_size;
    if (row + 1 == p.rows && slot + 1 < p.page_size) st(p.k_pool + to + p.slot_stride, from_float<T>(0));
  }
};
KERNEL_FROM(kv_append, plain, Wrong);

}  // namespace assay::ROOM(kv_append, next_slot_cleared)
