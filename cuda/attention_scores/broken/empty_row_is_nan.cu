// SPDX-License-Identifier: Apache-2.0
// FAULT: hidden keys get a score of -inf, and a query that sees none takes -inf from -inf. Right while every query sees a
// key.
// Caught by: the class of the result on queries that see nothing: more queries than keys, causal.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, empty_row_is_nan) {

KERNEL(attention_scores){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kPlainQueries), tile(Axis::seq_k, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ std::int64_t seen(const Problem<T>& m, std::int64_t) { return m.seq_k; }  // the hidden ones take part, too
  static __device__ float score(const Problem<T>& m, float dot, std::int64_t query, std::int64_t key) {
    return key < m.visible(query) ? dot * m.scale : -INFINITY;
  }
  static __device__ float base(float max) { return max; }
};

void run(const attention_scores::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_scores, empty_row_is_nan)
