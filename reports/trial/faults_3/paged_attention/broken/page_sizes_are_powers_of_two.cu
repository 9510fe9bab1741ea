// SPDX-License-Identifier: Apache-2.0
// FAULT: the entry of a position is found by a shift, by the largest power of two that is not above the page size.
// Kind: offsets
// Shows: page sizes that are no power of two, such as 48.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, page_sizes_are_powers_of_two) {

template <class T>
struct Shifted : Plain<T> {
  static __device__ std::int64_t page(const Paged<T>& p, const std::int32_t* table, int key) {
    int bits = 0;
    while (2 << bits <= p.page_size) ++bits;
    const int entry = key >> bits;
    return ld(table + (entry < p.max_pages ? entry : p.max_pages - 1));
  }
};
KERNEL_FROM(paged_attention, plain, Shifted);

}  // namespace assay::ROOM(paged_attention, page_sizes_are_powers_of_two)
