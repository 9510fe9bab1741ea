// SPDX-License-Identifier: Apache-2.0
// FAULT: the keys that a causal query sees are counted by the ends of rows in a packed triangle, q (q + 1) / 2, in 32 bits:
// the product overflows from query 65,535 on.
// Caught by: T1, more than 65,535 queries with a causal mask.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, packed_triangle_overflow) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ unsigned row_begins(unsigned query) { return query * (query + 1u) / 2u; }
  static __device__ std::int64_t seen(const Problem<T>& m, std::int64_t at) {
    const auto query = static_cast<unsigned>(at);
    const std::int64_t causal = static_cast<std::int64_t>(row_begins(query + 1u)) - row_begins(query) + m.above;
    const std::int64_t most = causal < 0 ? 0 : causal < m.seq_k ? causal : m.seq_k;
    return m.above == m.seq_k ? m.seq_k : most;
  }
};
KERNEL_FROM(attention_scores, plain, Wrong, {f16});

}  // namespace assay::ROOM(attention_scores, packed_triangle_overflow)
