// SPDX-License-Identifier: Apache-2.0
// FAULT: a hidden key gets the weight 0 and is multiplied all the same: 0 times a NaN or an infinity of its V is NaN.
// Caught by: the class of O, with a mask or a window and a V that is not finite; right on all finite inputs.
#include "cuda/attention_forward/broken/tiled.cuh"

namespace assay::ROOM(attention_forward, hidden_values_leak) {

KERNEL(attention_forward){
    .dtypes = {f16, bf16},
    .least_arch = 80,
    .tiles = {tile(Axis::seq_q, kTiledKeys), tile(Axis::seq_k, kTiledKeys)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = kTiledKeys}},
    .supports = fits_tiles,
};

template <class T>
struct Wrong : Tiles<T> {
  static __device__ bool weighed(bool) { return true; }
};

void run(const attention_forward::Args& a, const Launch& l) { run_tiled<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, hidden_values_leak)
