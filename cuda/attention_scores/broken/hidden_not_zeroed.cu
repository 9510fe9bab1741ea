// SPDX-License-Identifier: Apache-2.0
// FAULT: the row ends with the last key that is seen: what lies beyond the diagonal keeps what P held. Right without a mask.
// Caught by: T1, and T4 by the two garbage patterns in P; a causal mask.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, hidden_not_zeroed) {

KERNEL(attention_scores){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::seq_q, kPlainQueries), tile(Axis::seq_k, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ std::int64_t written(const Problem<T>&, std::int64_t seen) { return seen; }
};

void run(const attention_scores::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_scores, hidden_not_zeroed)
