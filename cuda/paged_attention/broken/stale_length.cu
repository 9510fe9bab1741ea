// SPDX-License-Identifier: Apache-2.0
// FAULT: the length is that of before the newest position, which is left out.
// Caught by: the bound, most of all on hot_last_key; right for a query that sees nothing.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, stale_length) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ int visible(const Paged<T>& p, int length, int query) { return p.visible(length - 1, query); }
};
KERNEL_FROM(paged_attention, plain, Wrong);

}  // namespace assay::ROOM(paged_attention, stale_length)
