// SPDX-License-Identifier: Apache-2.0
// FAULT: keys of the last tile that do not exist are zeros with a score of zero, and are weighed like any other.
// Caught by: the bound, without a mask and seq_k % 32 != 0, most plainly where all scores are negative; right with whole tiles.
#include "cuda/attention_forward/broken/tiled.cuh"

namespace assay::ROOM(attention_forward, padding_key_counted) {

KERNEL(attention_forward){
    .dtypes = {f16, bf16},
    .least_arch = 80,
    .tiles = {tile(Axis::seq_q, kTiledKeys), tile(Axis::seq_k, kTiledKeys)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = kTiledKeys}},
    .supports = fits_tiles,
};

template <class T>
struct Wrong : Tiles<T> {
  static __device__ bool visible(const Problem<T>& p, int query, int key) {
    return Tiles<T>::visible(p, query, key) || key >= p.keys;
  }
};

void run(const attention_forward::Args& a, const Launch& l) { run_tiled<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, padding_key_counted)
