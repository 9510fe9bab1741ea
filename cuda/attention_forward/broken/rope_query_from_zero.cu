// SPDX-License-Identifier: Apache-2.0
// FAULT: the position of a query is its number, though it stands at the end of the keys.
// Caught by: the bound, with rope, seq_q != seq_k and no top-left mask; right without rope and where there are as many queries
// as keys.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, rope_query_from_zero) {

template <class T>
struct Wrong : Turned<T> {
  static __device__ float dot(const Problem<T>& p, const T* q, const T* k, int query, int key) {
    return rotated_dot(p.rope, p.dim, q, k, query, key);
  }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, rope_query_from_zero)
