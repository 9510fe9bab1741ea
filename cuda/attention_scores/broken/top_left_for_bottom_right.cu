// SPDX-License-Identifier: Apache-2.0
// FAULT: a causal mask is aligned at the first key, not at the last. Right for as many queries as keys.
// Caught by: the bound wherever a causal mask meets more keys than queries, or fewer: a hidden P is 0 and nothing else.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, top_left_for_bottom_right) {

KERNEL(attention_scores){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kPlainQueries), tile(Axis::seq_k, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ std::int64_t seen(const Problem<T>& m, std::int64_t query) {
    return m.above == m.seq_k || query >= m.seq_k ? m.seq_k : query + 1;
  }
};

void run(const attention_scores::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_scores, top_left_for_bottom_right)
