// SPDX-License-Identifier: Apache-2.0
// FAULT: the next tile is written without waiting for the threads that still read this one.
// Caught by: two runs that differ, or the bound, with more than one tile, where the order of threads brings it out (simt does).
#include "cuda/attention_forward/broken/tiled.cuh"

namespace assay::ROOM(attention_forward, missing_barrier) {

inline constexpr int kWide = 64;  // two warps: one may run ahead

KERNEL(attention_forward){
    .dtypes = {f16, bf16},
    .least_arch = 80,
    .tiles = {tile(Axis::seq_q, kWide), tile(Axis::seq_k, kWide)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = kWide}},
    .supports = fits_tiles,
};

template <class T>
struct Wrong : Tiles<T> {
  static constexpr int kTile = kWide;
  static __device__ void release() {}
};

void run(const attention_forward::Args& a, const Launch& l) { run_tiled<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, missing_barrier)
