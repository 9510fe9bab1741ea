// SPDX-License-Identifier: Apache-2.0
// FAULT: keys are rotated by their row in the tile: every tile stands where the first one does.
// Caught by: the bound, with rope and more than one tile of keys; right without rope and within the first tile.
#include "cuda/attention_forward/broken/tiled.cuh"

namespace assay::ROOM(attention_forward, rope_key_by_row_of_tile) {

template <class T>
struct Wrong : TurnedTiles<T> {
  static __device__ float dot(const Problem<T>& p, const T* q, const T* k, int query, int /*first*/, int row) {
    return rotated_dot(p.rope, p.dim, q, k, p.place(query), row);
  }
};
KERNEL_FROM(attention_forward, tiled, Wrong);

}  // namespace assay::ROOM(attention_forward, rope_key_by_row_of_tile)
