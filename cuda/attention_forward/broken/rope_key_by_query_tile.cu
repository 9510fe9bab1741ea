// SPDX-License-Identifier: Apache-2.0
// FAULT: keys are turned by the positions of the tile of queries, which the block has at hand.
// Caught by: the bound, with rope and where the tiles of queries and of keys stand apart; right without rope, and on the diagonal.
#include "cuda/attention_forward/broken/tiled.cuh"

namespace assay::ROOM(attention_forward, rope_key_by_query_tile) {

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
  static __device__ float dot(const Problem<T>& p, const T* q, const T* k, int query, int /*first*/, int row) {
    return turned_dot(p.rope, p.dim, q, k, p.place(query), p.place(query / kTiledKeys * kTiledKeys) + row);
  }
};

void run(const attention_forward::Args& a, const Launch& l) { run_tiled<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, rope_key_by_query_tile)
