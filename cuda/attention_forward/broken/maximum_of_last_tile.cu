// SPDX-License-Identifier: Apache-2.0
// FAULT: each tile's weights are relative to its own maximum, and what was summed before is not rescaled where that is smaller.
// Caught by: the bound with more than one tile, plainly where scores fall; right with up to 32 keys.
#include "cuda/attention_forward/broken/tiled.cuh"

namespace assay::ROOM(attention_forward, maximum_of_last_tile) {

KERNEL(attention_forward){
    .dtypes = {f16, bf16},
    .least_arch = 80,
    .tiles = {tile(Axis::seq_q, kTiledKeys), tile(Axis::seq_k, kTiledKeys)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = kTiledKeys}},
    .supports = fits_tiles,
};

template <class T>
struct Wrong : Tiles<T> {
  static __device__ float maximum_before(float) { return -INFINITY; }
  static __device__ float shrink(float max, float base) { return expf(fminf(max - base, 0.0f)); }
};

void run(const attention_forward::Args& a, const Launch& l) { run_tiled<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, maximum_of_last_tile)
