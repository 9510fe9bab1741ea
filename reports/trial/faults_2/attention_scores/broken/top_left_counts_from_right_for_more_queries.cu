// SPDX-License-Identifier: Apache-2.0
// FAULT: the top-left mask is taken from the bottom right where queries outnumber keys.
// Kind: combinations
// Shows: mask=causal_top_left with seq_q > seq_k.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, top_left_counts_from_right_for_more_queries) {

template <class T>
struct Steps : Plain<T> {
  static __device__ std::int64_t seen(const Problem<T>& m, std::int64_t query) {
    if (m.above != 0 || m.seq_q <= m.seq_k) return m.visible(query);
    const std::int64_t end = query + 1 + m.seq_k - m.seq_q;
    return end < 0 ? 0 : end;
  }
};
KERNEL_FROM(attention_scores, plain, Steps);

}  // namespace assay::ROOM(attention_scores, top_left_counts_from_right_for_more_queries)
