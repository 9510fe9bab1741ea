// SPDX-License-Identifier: Apache-2.0
// FAULT: scores are rounded to the storage dtype before the softmax, and the declaration does not say so.
// Caught by: T1, where scores are large (large_scores, hot_keys), and on any random fill.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, scores_rounded) {

KERNEL(attention_scores){
    .dtypes = {f16, bf16},
    .tiles = {tile(Axis::seq_q, kPlainQueries), tile(Axis::seq_k, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ float score(const Problem<T>& m, float dot, std::int64_t, std::int64_t) {
    return to_float(from_float<T>(dot * m.scale));
  }
};

void run(const attention_scores::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_scores, scores_rounded)
