// SPDX-License-Identifier: Apache-2.0
// FAULT: a block of 32 queries goes through tiles of 16 keys, beginning with the first tile that its last query sees; the first
// queries of the block lose keys of the tile before.
// Kind: offsets
// Shows: a window with more queries than a few, so that the first keys of a block of queries lie in different tiles of 16.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, window_tiles_of_last_query) {

template <class T>
struct Steps : Turned<T> {
  static __device__ Keys seen(const Problem<T>& p, int query) {
    const int last = (query | (kPlainQueries - 1)) < p.queries ? (query | (kPlainQueries - 1)) : p.queries - 1;
    const int tile = p.first_visible(last) / 16 * 16, first = p.first_visible(query), end = p.visible(query);
    const int begin = tile > first ? tile : first;
    return {begin < end ? begin : end, end};
  }
};
KERNEL_FROM(attention_forward, plain, Steps);

}  // namespace assay::ROOM(attention_forward, window_tiles_of_last_query)
