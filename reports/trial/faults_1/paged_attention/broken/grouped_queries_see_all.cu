// SPDX-License-Identifier: Apache-2.0
// FAULT: where query heads share a key head, all queries of a sequence see all of its positions; the causal limit is kept only
// for equal heads.
// Kind: combinations
// Shows: fewer kv_heads than heads, and two queries or more.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, grouped_queries_see_all) {

template <class T>
struct Unmasked : Plain<T> {
  static __device__ int visible(const Paged<T>& p, int length, int query) {
    const int visible = p.visible(length, query);
    return p.group > 1 && visible > 0 ? length : visible;
  }
};

KERNEL_FROM(paged_attention, plain, Unmasked);

}  // namespace assay::ROOM(paged_attention, grouped_queries_see_all)
