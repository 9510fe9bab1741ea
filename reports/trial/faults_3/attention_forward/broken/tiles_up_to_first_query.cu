// SPDX-License-Identifier: Apache-2.0
// FAULT: a block of 16 queries goes through as many tiles of 48 keys as its first query sees.
// Kind: offsets
// Shows: masked queries whose last visible key is in a later tile than that of the first of their 16.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, tiles_up_to_first_query) {

inline constexpr int kQueries = 16, kKeys = 48;

template <class T>
struct FewTiles : Plain<T> {
  static __device__ Keys seen(const Problem<T>& p, int query) {
    const int end = p.visible(query), of_first = p.visible(query / kQueries * kQueries);
    const int limit = (of_first + kKeys - 1) / kKeys * kKeys;
    return {p.first_visible(query), end < limit || of_first == 0 ? end : limit};
  }
};
KERNEL_FROM(attention_forward, plain, FewTiles);

}  // namespace assay::ROOM(attention_forward, tiles_up_to_first_query)
