// SPDX-License-Identifier: Apache-2.0
// FAULT: exp of the score as it is, the maximum forgotten. Right while every exp and their sum stay within f32.
// Caught by: the class of the result on large_scores, where exp overflows, and the bound on all_far_below_zero.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, maximum_not_subtracted) {

KERNEL(attention_scores){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kPlainQueries), tile(Axis::seq_k, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ float base(float) { return 0; }
};

void run(const attention_scores::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_scores, maximum_not_subtracted)
