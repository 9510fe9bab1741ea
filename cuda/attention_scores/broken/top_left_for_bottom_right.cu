// SPDX-License-Identifier: Apache-2.0
// FAULT: a causal mask is aligned at the first key, not at the last. Right for as many queries as keys.
// Caught by: the bound wherever a causal mask meets more keys than queries, or fewer: a hidden P is 0 and nothing else.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, top_left_for_bottom_right) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ std::int64_t seen(const Problem<T>& m, std::int64_t query) {
    return m.above == m.seq_k || query >= m.seq_k ? m.seq_k : query + 1;
  }
};
KERNEL_FROM(attention_scores, plain, Wrong);

}  // namespace assay::ROOM(attention_scores, top_left_for_bottom_right)
