// SPDX-License-Identifier: Apache-2.0
// FAULT: every query sees what the newest one sees.
// Caught by: the bound, with more than one new token.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, newest_query_for_all) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ int visible(const Paged<T>& p, int length, int) { return p.visible(length, p.queries - 1); }
};
KERNEL_FROM(paged_attention, plain, Wrong);

}  // namespace assay::ROOM(paged_attention, newest_query_for_all)
