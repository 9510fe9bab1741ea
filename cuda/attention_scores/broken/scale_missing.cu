// SPDX-License-Identifier: Apache-2.0
// FAULT: Q K^T is not scaled. Right for one channel, where the usual scale is 1, and where only one key is seen.
// Caught by: the bound on any random case with more channels.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, scale_missing) {

KERNEL(attention_scores){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kPlainQueries), tile(Axis::seq_k, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ float score(const Problem<T>&, float dot, std::int64_t, std::int64_t) { return dot; }
};

void run(const attention_scores::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_scores, scale_missing)
