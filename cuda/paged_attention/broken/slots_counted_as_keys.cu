// SPDX-License-Identifier: Apache-2.0
// FAULT: positions are taken to lie side by side from the first page on, as before there were pages.
// Caught by: the bound and probe_one_key, where a sequence has more than one page; right where its pages happen to follow each
// other.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, slots_counted_as_keys) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ std::int64_t page(const Paged<T>& p, const std::int32_t* table, int key) {
    return (ld(table) + key / p.page_size) % p.pages;
  }
};
KERNEL_FROM(paged_attention, plain, Wrong);

}  // namespace assay::ROOM(paged_attention, slots_counted_as_keys)
