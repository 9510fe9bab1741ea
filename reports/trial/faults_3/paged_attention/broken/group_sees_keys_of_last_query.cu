// SPDX-License-Identifier: Apache-2.0
// FAULT: where query heads share a key/value head, two queries are taken together, and the first sees what the second may see.
// Kind: combinations
// Shows: several queries together with several query heads for each key/value head.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, group_sees_keys_of_last_query) {

template <class T>
struct Together : Plain<T> {
  static __device__ int visible(const Paged<T>& p, int length, int query) {
    const int last = query / 2 * 2 + 1 < p.queries ? query / 2 * 2 + 1 : p.queries - 1;
    const int own = p.visible(length, query);
    return p.group > 1 && own > 0 ? p.visible(length, last) : own;
  }
};
KERNEL_FROM(paged_attention, plain, Together);

}  // namespace assay::ROOM(paged_attention, group_sees_keys_of_last_query)
