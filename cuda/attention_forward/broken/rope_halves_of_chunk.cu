// SPDX-License-Identifier: Apache-2.0
// FAULT: a channel is paired with another of its chunk of eight, which one access holds, not half the head apart.
// Caught by: the bound, with rope=half; right without rope, and where only as many as a chunk are rotated.
#include "cuda/attention_forward/broken/tiled.cuh"

namespace assay::ROOM(attention_forward, rope_halves_of_chunk) {

template <class T>
struct Wrong : TurnedTiles<T> {
  static __device__ float dot(const Problem<T>& p, const T* q, const T* k, int query, int first, int row) {
    Rope rope = p.rope;
    if (rope.rotary == 0 || rope.interleaved || rope.rotary % 8 != 0) return Tiled<T>::dot(p, q, k, query, first, row);
    rope.rotary = 8;
    float sum = rotated_dot(rope, 0, q, k, p.place(query), first + row);
    for (int c = 8; c < p.rope.rotary; c += 8) sum += rotated_dot(rope, 0, q + c, k + c, p.place(query), first + row);
    rope.rotary = 0;
    return sum + rotated_dot(rope, p.dim - p.rope.rotary, q + p.rope.rotary, k + p.rope.rotary, 0, 0);
  }
};
KERNEL_FROM(attention_forward, tiled, Wrong);

}  // namespace assay::ROOM(attention_forward, rope_halves_of_chunk)
