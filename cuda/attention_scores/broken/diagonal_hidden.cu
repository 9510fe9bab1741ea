// SPDX-License-Identifier: Apache-2.0
// FAULT: key < query where it should be key <= query: the key on the diagonal is not seen. Right without a mask.
// Caught by: the bound in any case with a causal mask: P on the diagonal is 0.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, diagonal_hidden) {

KERNEL(attention_scores){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kPlainQueries), tile(Axis::seq_k, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ std::int64_t seen(const Problem<T>& m, std::int64_t query) {
    return m.above == m.seq_k ? m.seq_k : m.visible(query - 1);
  }
};

void run(const attention_scores::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_scores, diagonal_hidden)
