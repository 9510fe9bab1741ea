// SPDX-License-Identifier: Apache-2.0
// FAULT: the page table is read once for every eight positions.
// Kind: offsets
// Shows: page sizes that eight does not divide.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, page_looked_up_for_eight) {

template <class T>
struct Eights : Plain<T> {
  static __device__ std::int64_t page(const Paged<T>& p, const std::int32_t* table, int key) {
    return ld(table + key / 8 * 8 / p.page_size);
  }
};
KERNEL_FROM(paged_attention, plain, Eights);

}  // namespace assay::ROOM(paged_attention, page_looked_up_for_eight)
