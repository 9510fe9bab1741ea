// SPDX-License-Identifier: Apache-2.0
// FAULT: the loop takes whole tiles of keys only.
// Caught by: the bound, wherever the keys that a query sees end within a tile; right where they fill it.
#include "cuda/attention_forward/broken/tiled.cuh"

namespace assay::ROOM(attention_forward, last_tile_dropped) {

KERNEL(attention_forward){
    .dtypes = {f16, bf16},
    .least_arch = 80,
    .tiles = {tile(Axis::seq_q, kTiledKeys), tile(Axis::seq_k, kTiledKeys)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = kTiledKeys}},
    .supports = fits_tiles,
};

template <class T>
struct Wrong : Tiles<T> {
  static __device__ bool has_tile(int first, int keys) { return first + kTiledKeys <= keys; }
};

void run(const attention_forward::Args& a, const Launch& l) { run_tiled<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, last_tile_dropped)
