// SPDX-License-Identifier: Apache-2.0
// FAULT: hidden keys get a score of -10000 instead of no part at all. Right while every query sees a key, and scores stay
// above.
// Caught by: the bound on queries that see nothing, whose P becomes uniform: more queries than keys, causal.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, minus_ten_thousand) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ std::int64_t seen(const Problem<T>& m, std::int64_t) { return m.seq_k; }  // the hidden ones take part, too
  static __device__ float score(const Problem<T>& m, float dot, std::int64_t query, std::int64_t key) {
    return key < m.visible(query) ? dot * m.scale : -10000.0f;
  }
};
KERNEL_FROM(attention_scores, plain, Wrong);

}  // namespace assay::ROOM(attention_scores, minus_ten_thousand)
