// SPDX-License-Identifier: Apache-2.0
// FAULT: the loop takes whole pages only.
// Caught by: the bound, wherever a length is no multiple of the page size; lengths_boundary.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, last_page_dropped) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ int end(const Paged<T>& p, int visible) { return visible / p.page_size * p.page_size; }
};
KERNEL_FROM(paged_attention, plain, Wrong);

}  // namespace assay::ROOM(paged_attention, last_page_dropped)
