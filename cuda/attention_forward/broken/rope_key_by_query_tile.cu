// SPDX-License-Identifier: Apache-2.0
// FAULT: keys are rotated by the positions of the tile of queries, which the block has at hand.
// Caught by: the bound, with rope and where the tiles of queries and of keys stand apart; right without rope, and on the
// diagonal.
#include "cuda/attention_forward/broken/tiled.cuh"

namespace assay::ROOM(attention_forward, rope_key_by_query_tile) {

template <class T>
struct Wrong : TurnedTiles<T> {
  static __device__ float dot(const Problem<T>& p, const T* q, const T* k, int query, int /*first*/, int row) {
    return rotated_dot(p.rope, p.dim, q, k, p.place(query), p.place(query / kTiledKeys * kTiledKeys) + row);
  }
};
KERNEL_FROM(attention_forward, tiled, Wrong);

}  // namespace assay::ROOM(attention_forward, rope_key_by_query_tile)
