// SPDX-License-Identifier: Apache-2.0
// FAULT: the mask lowers the scores of hidden keys by 10000 and does not take them away.
// Kind: ranges
// Shows: hidden keys with NaN, scores that differ by thousands, and queries that see no key.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, hidden_scores_lowered_by_ten_thousand) {

template <class T>
struct Lowered : Plain<T> {
  static __device__ std::int64_t seen(const Problem<T>& m, std::int64_t) { return m.seq_k; }
  static __device__ float score(const Problem<T>& m, float dot, std::int64_t query, std::int64_t key) {
    return key < m.visible(query) ? dot * m.scale : dot * m.scale - 1e4f;
  }
};
KERNEL_FROM(attention_scores, plain, Lowered);

}  // namespace assay::ROOM(attention_scores, hidden_scores_lowered_by_ten_thousand)
