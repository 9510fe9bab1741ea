// SPDX-License-Identifier: Apache-2.0
// FAULT: pairs are half a head apart, whatever was asked for.
// Caught by: the bound, with rope=interleaved; right with rope=half and without rope.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, rope_half_always) {

KERNEL(attention_forward) = turned_traits({f16, bf16, f32});

template <class T>
struct Wrong : Steps<T> {
  static __device__ float dot(const Problem<T>& p, const T* q, const T* k, int query, int key) {
    Rope rope = p.rope;
    rope.interleaved = false;
    return turned_dot(rope, p.dim, q, k, p.place(query), key);
  }
};

void run(const attention_forward::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, rope_half_always)
