// SPDX-License-Identifier: Apache-2.0
// FAULT: the mask is applied to P only: maximum and sum run over all keys. Right without a mask.
// Caught by: T1, T0 on probe_digits; a causal mask.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, hidden_keys_in_sum) {

KERNEL(attention_scores){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::seq_q, kPlainQueries), tile(Axis::seq_k, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ std::int64_t in_maximum(const Problem<T>& m, std::int64_t) { return m.seq_k; }
  static __device__ std::int64_t in_sum(const Problem<T>& m, std::int64_t) { return m.seq_k; }
};

void run(const attention_scores::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_scores, hidden_keys_in_sum)
