// SPDX-License-Identifier: Apache-2.0
// FAULT: seq_k - seq_q is kept from falling below zero: with more queries than keys the causal mask is aligned at the top left.
// Kind: combination
// Caught by: the bound, with batch=2 seq_q=130 seq_k=67 heads=1 kv_heads=1 head_dim=64 mask=causal (f16).
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, alignment_kept_non_negative) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ std::int64_t seen(const Problem<T>& m, std::int64_t query) {
    const std::int64_t above = m.above < 0 ? 0 : m.above, end = query + 1 + above;
    return end < m.seq_k ? end : m.seq_k;
  }
};
KERNEL_FROM(attention_scores, plain, Wrong);

}  // namespace assay::ROOM(attention_scores, alignment_kept_non_negative)
