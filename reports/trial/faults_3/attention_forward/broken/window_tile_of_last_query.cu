// SPDX-License-Identifier: Apache-2.0
// FAULT: a block of 16 queries with a window begins at the tile of 48 keys in which the window of its last query begins.
// Kind: offsets
// Shows: windows whose first keys are in an earlier tile for the first queries of 16 than for the last.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, window_tile_of_last_query) {

template <class T>
struct LateTile : Plain<T> {
  static __device__ Keys seen(const Problem<T>& p, int query) {
    const int last = query / 16 * 16 + 15 < p.queries ? query / 16 * 16 + 15 : p.queries - 1;
    const int first = p.first_visible(query), tile = p.first_visible(last) / 48 * 48, end = p.visible(query);
    const int begin = first > tile ? first : tile;
    return {begin < end ? begin : end, end};
  }
};
KERNEL_FROM(attention_forward, plain, LateTile);

}  // namespace assay::ROOM(attention_forward, window_tile_of_last_query)
