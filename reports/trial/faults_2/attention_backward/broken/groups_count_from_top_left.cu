// SPDX-License-Identifier: Apache-2.0
// FAULT: where heads share a key, and queries outnumber keys under the causal mask, a key goes through the queries from its own
// index on, as if the mask began top left.
// Kind: combinations
// Shows: mask=causal, seq_q > seq_k and heads > kv_heads.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, groups_count_from_top_left) {

template <class T>
struct Steps : Plain<T> {
  static __device__ int first_query(const Problem<T>& p, int key) {
    return p.group > 1 && p.above < 0 ? key : p.seen_from(key);
  }
};
KERNEL_FROM(attention_backward, plain, Steps);

}  // namespace assay::ROOM(attention_backward, groups_count_from_top_left)
