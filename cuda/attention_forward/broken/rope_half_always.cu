// SPDX-License-Identifier: Apache-2.0
// FAULT: pairs are half a head apart, whatever was asked for.
// Caught by: the bound, with rope=interleaved; right with rope=half and without rope.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, rope_half_always) {

template <class T>
struct Wrong : Turned<T> {
  static __device__ float dot(const Problem<T>& p, const T* q, const T* k, int query, int key) {
    Rope rope = p.rope;
    rope.interleaved = false;
    return rotated_dot(rope, p.dim, q, k, p.place(query), key);
  }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, rope_half_always)
