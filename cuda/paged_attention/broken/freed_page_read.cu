// SPDX-License-Identifier: Apache-2.0
// FAULT: goes on through the table as long as its entries name a page, whatever the length says.
// Caught by: the comparison, where an entry beyond the length is a page that was freed or is another's.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, freed_page_read) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ int end(const Paged<T>& p, int) { return p.max_pages * p.page_size; }
  static __device__ bool counts(const Paged<T>& p, std::int64_t page, int key, int visible) {
    const int in_use = (visible + p.page_size - 1) / p.page_size * p.page_size;
    return key < visible || (key >= in_use && page >= 0 && page < p.pages);
  }
};
KERNEL_FROM(paged_attention, plain, Wrong);

}  // namespace assay::ROOM(paged_attention, freed_page_read)
