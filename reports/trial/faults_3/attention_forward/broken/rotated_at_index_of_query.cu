// SPDX-License-Identifier: Apache-2.0
// FAULT: rope rotates a query at its index among the queries, not at its place among the keys.
// Kind: algorithm
// Shows: rope with different numbers of queries and keys, as when decoding.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, rotated_at_index_of_query) {

template <class T>
struct AtIndex : Turned<T> {
  static __device__ float dot(const Problem<T>& p, const T* q, const T* k, int query, int key) {
    return rotated_dot(p.rope, p.dim, q, k, query, key);
  }
};
KERNEL_FROM(attention_forward, plain, AtIndex);

}  // namespace assay::ROOM(attention_forward, rotated_at_index_of_query)
