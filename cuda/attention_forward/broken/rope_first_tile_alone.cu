// SPDX-License-Identifier: Apache-2.0
// FAULT: the tiles of keys that are brought while another is worked on are not turned, only the first one is.
// Caught by: the bound, with rope and more than one tile of keys; right without rope and within the first tile.
#include "cuda/attention_forward/broken/tiled.cuh"

namespace assay::ROOM(attention_forward, rope_first_tile_alone) {

KERNEL(attention_forward){
    .dtypes = {f16, bf16},
    .tiles = {tile(Axis::seq_q, kTiledKeys), tile(Axis::seq_k, kTiledKeys)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = 1},
                 .angle_error = kAngleError,
                 .turn_error = kTurnError,
                 .rescales = {.lanes = kTiledKeys}},
    .supports = fits_turned_tiles,
};

template <class T>
struct Wrong : Tiles<T> {
  static __device__ float dot(const Problem<T>& p, const T* q, const T* k, int query, int first, int row) {
    return turned_dot(p.rope, p.dim, q, k, p.place(query), first == 0 ? row : -p.rope.offset);
  }
};

void run(const attention_forward::Args& a, const Launch& l) { run_tiled<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, rope_first_tile_alone)
