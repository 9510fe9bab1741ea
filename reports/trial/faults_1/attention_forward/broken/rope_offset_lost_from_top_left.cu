// SPDX-License-Identifier: Apache-2.0
// FAULT: with causal_top_left the offset of the positions is left out of the queries' rotation; keys have it.
// Kind: combinations
// Shows: rope with an offset and the mask causal_top_left.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, rope_offset_lost_from_top_left) {

template <class T>
struct Lost : Turned<T> {
  static __device__ float dot(const Problem<T>& p, const T* q, const T* k, int query, int key) {
    const int lost = p.mask == attention_forward::Mask::causal_top_left ? p.rope.offset : 0;
    return rotated_dot(p.rope, p.dim, q, k, p.place(query) - lost, key);
  }
};

KERNEL_FROM(attention_forward, plain, Lost);

}  // namespace assay::ROOM(attention_forward, rope_offset_lost_from_top_left)
