// SPDX-License-Identifier: Apache-2.0
// A query a warp, its keys taken from the last to the first.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, reversed_sum) {

KERNEL(attention_scores){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kPlainQueries), tile(Axis::seq_k, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Reversed : Steps<T> {
  static __device__ std::int64_t taken(std::int64_t key, std::int64_t count) { return count - 1 - key; }
};

void run(const attention_scores::Args& a, const Launch& l) { run_plain<Reversed>(a, l); }

}  // namespace assay::ROOM(attention_scores, reversed_sum)
