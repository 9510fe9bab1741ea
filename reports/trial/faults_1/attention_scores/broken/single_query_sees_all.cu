// SPDX-License-Identifier: Apache-2.0
// FAULT: one query is taken for the newest token of a cache, which sees every key, whatever the mask.
// Kind: combinations
// Shows: mask causal_top_left, one query and two keys or more.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, single_query_sees_all) {

template <class T>
struct Newest : Plain<T> {
  static __device__ std::int64_t seen(const Problem<T>& m, std::int64_t query) {
    return m.seq_q == 1 ? m.seq_k : m.visible(query);
  }
};

KERNEL_FROM(attention_scores, plain, Newest);

}  // namespace assay::ROOM(attention_scores, single_query_sees_all)
