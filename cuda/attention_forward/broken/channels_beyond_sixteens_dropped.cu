// SPDX-License-Identifier: Apache-2.0
// FAULT: a score sums whole steps of 16 channels: right where head_dim is a multiple, and below 16.
// Kind: combination
// Caught by: the bound, with batch=2 seq_q=13 seq_k=37 heads=2 kv_heads=1 head_dim=40 rope=half rotary_dim=16 (f16).
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, channels_beyond_sixteens_dropped) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float dot(const Problem<T>& p, const T* q, const T* k, int query, int key) {
    return rotated_dot(p.rope, p.dim < 16 ? p.dim : p.dim / 16 * 16, q, k, p.place(query), key);
  }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, channels_beyond_sixteens_dropped)
