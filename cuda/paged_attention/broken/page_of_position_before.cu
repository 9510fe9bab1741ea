// SPDX-License-Identifier: Apache-2.0
// FAULT: the page is that of the position before: the first slot of every page but the first is looked for in the page before
// it.
// Caught by: the bound and probe_one_key, where a sequence has more than one page.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, page_of_position_before) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ std::int64_t page(const Paged<T>& p, const std::int32_t* table, int key) {
    return ld(table + (key ? key - 1 : 0) / p.page_size);
  }
};
KERNEL_FROM(paged_attention, plain, Wrong);

}  // namespace assay::ROOM(paged_attention, page_of_position_before)
