// SPDX-License-Identifier: Apache-2.0
// FAULT: the entry of the page table is the position shifted by the trailing zeros of the page size, which is a division only
// for powers of two.
// Kind: offsets
// Shows: a page size such as 24 or 48, and a position beyond the first page.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, page_by_shift) {

template <class T>
struct Shifted : Plain<T> {
  static __device__ std::int64_t page(const Paged<T>& p, const std::int32_t* table, int key) {
    int bits = 0;
    while ((p.page_size >> bits & 1) == 0) ++bits;
    const int entry = key >> bits;
    return ld(table + (entry < p.max_pages ? entry : p.max_pages - 1));
  }
};

KERNEL_FROM(paged_attention, plain, Shifted);

}  // namespace assay::ROOM(paged_attention, page_by_shift)
