// SPDX-License-Identifier: Apache-2.0
// FAULT: with rope, positions of packed tokens run on from sequence to sequence: right where queries and keys have the same
// starts.
// Kind: combination
// Caught by: the bound, with batch=3 seq_q=9 seq_k=20 heads=1 kv_heads=1 head_dim=64 mask=causal window=7 packed=yes ...
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, packed_positions_run_on) {

template <class T>
struct Wrong : Turned<T> {
  static __device__ float dot(const Problem<T>& p, const T* q, const T* k, int query, int key) {
    const int of_q = p.q_starts ? ld(p.q_starts + p.sequence) : 0, of_k = p.q_starts ? ld(p.k_starts + p.sequence) : 0;
    return rotated_dot(p.rope, p.dim, q, k, of_q + p.place(query), of_k + key);
  }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, packed_positions_run_on)
