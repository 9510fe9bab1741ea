// SPDX-License-Identifier: Apache-2.0
// FAULT: a channel is paired with another of its chunk of eight, which one access holds, not half the head apart.
// Caught by: the bound, with rope=half; right without rope, and where only as many as a chunk turn.
#include "cuda/attention_forward/broken/tiled.cuh"

namespace assay::ROOM(attention_forward, rope_halves_of_chunk) {

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
    Rope rope = p.rope;
    if (rope.rotary == 0 || rope.interleaved || rope.rotary % 8 != 0) return Tiles<T>::dot(p, q, k, query, first, row);
    rope.rotary = 8;
    float sum = turned_dot(rope, 0, q, k, p.place(query), first + row);
    for (int c = 8; c < p.rope.rotary; c += 8) sum += turned_dot(rope, 0, q + c, k + c, p.place(query), first + row);
    rope.rotary = 0;
    return sum + turned_dot(rope, p.dim - p.rope.rotary, q + p.rope.rotary, k + p.rope.rotary, 0, 0);
  }
};

void run(const attention_forward::Args& a, const Launch& l) { run_tiled<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, rope_halves_of_chunk)
