// SPDX-License-Identifier: Apache-2.0
// FAULT: where query heads share a key head, a causal limit above the first key is clamped to it, so keys are taken for seen
// by queries that see nothing of them.
// Kind: combinations
// Shows: causal with seq_q > seq_k and fewer kv_heads than heads.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, grouped_keys_from_first_query) {

template <class T>
struct Clamped : Plain<T> {
  static __device__ int first_query(const Problem<T>& p, int key) {
    if (p.group == 1 || p.above >= 0) return p.seen_from(key);
    return key < p.queries ? key : p.queries;
  }
};

KERNEL_FROM(attention_backward, plain, Clamped);

}  // namespace assay::ROOM(attention_backward, grouped_keys_from_first_query)
