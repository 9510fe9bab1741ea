// SPDX-License-Identifier: Apache-2.0
// FAULT: 1 / sum is rounded to the storage dtype, and the declaration does not say so.
// Caught by: T1, at about one row in four of any random fill.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, reciprocal_rounded) {

KERNEL(attention_scores){
    .dtypes = {f16, bf16},
    .tiles = {tile(Axis::seq_q, kPlainQueries), tile(Axis::seq_k, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ float probability(float term, float sum) { return term * to_float(from_float<T>(1.0f / sum)); }
};

void run(const attention_scores::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_scores, reciprocal_rounded)
