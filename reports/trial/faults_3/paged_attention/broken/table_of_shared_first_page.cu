// SPDX-License-Identifier: Apache-2.0
// FAULT: a sequence that has the length and the first page of the one before it takes that one's table, as if all pages were
// shared.
// Kind: cheats
// Shows: sequences of one length that share their first page only.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, table_of_shared_first_page) {

template <class T>
struct Prefix : Plain<T> {
  static __device__ const std::int32_t* table_of(const Paged<T>& p, int batch) {
    const std::int32_t* const own = p.table_of(batch);
    if (batch == 0 || ld(p.lengths + batch) != ld(p.lengths + batch - 1) || ld(p.lengths + batch) == 0) return own;
    const std::int32_t* const other = p.table_of(batch - 1);
    return ld(own) == ld(other) ? other : own;
  }
};
KERNEL_FROM(paged_attention, plain, Prefix);

}  // namespace assay::ROOM(paged_attention, table_of_shared_first_page)
