// SPDX-License-Identifier: Apache-2.0
// FAULT: the tiles of keys that are brought while another is worked on are not rotated, only the first one is.
// Caught by: the bound, with rope and more than one tile of keys; right without rope and within the first tile.
#include "cuda/attention_forward/broken/tiled.cuh"

namespace assay::ROOM(attention_forward, rope_first_tile_alone) {

template <class T>
struct Wrong : TurnedTiles<T> {
  static __device__ float dot(const Problem<T>& p, const T* q, const T* k, int query, int first, int row) {
    return rotated_dot(p.rope, p.dim, q, k, p.place(query), first == 0 ? row : -p.rope.offset);
  }
};
KERNEL_FROM(attention_forward, tiled, Wrong);

}  // namespace assay::ROOM(attention_forward, rope_first_tile_alone)
