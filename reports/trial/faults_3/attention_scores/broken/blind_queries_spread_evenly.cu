// SPDX-License-Identifier: Apache-2.0
// FAULT: a query that sees no key weighs all keys alike.
// Kind: algorithm
// Shows: mask=causal with more queries than keys.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, blind_queries_spread_evenly) {

template <class T>
struct Spread : Plain<T> {
  static __device__ std::int64_t seen(const Problem<T>& m, std::int64_t query) {
    const std::int64_t visible = m.visible(query);
    return visible == 0 ? m.seq_k : visible;
  }
  static __device__ float score(const Problem<T>& m, float dot, std::int64_t query, std::int64_t) {
    return m.visible(query) == 0 ? 0.0f : dot * m.scale;
  }
};
KERNEL_FROM(attention_scores, plain, Spread);

}  // namespace assay::ROOM(attention_scores, blind_queries_spread_evenly)
