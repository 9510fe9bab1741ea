// SPDX-License-Identifier: Apache-2.0
// FAULT: the keys that a causal query sees are counted by the ends of rows in a packed triangle, q (q + 1) / 2, in 32 bits:
// the product overflows from query 65,535 on.
// Caught by: T1, more than 65,535 queries with a causal mask.
#include "cuda/attention_scores/problem.cuh"
#include "cuda/core/reduce.cuh"

namespace assay::ROOM(attention_scores, packed_triangle_overflow) {

inline constexpr int kQueries = 4;  // warps a block

KERNEL(attention_scores){
    .dtypes = {f16},
    .tiles = {tile(Axis::seq_q, kQueries), tile(Axis::seq_k, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

__device__ inline unsigned row_begins(unsigned query) { return query * (query + 1u) / 2u; }

template <class T>
__global__ void packed_triangle_overflow(Problem<T> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kQueries + warp_id();
  if (row >= m.batch * m.heads * m.seq_q) return;
  const Query at = query_of(m, row);
  const auto query = static_cast<unsigned>(at.query);
  const std::int64_t causal = static_cast<std::int64_t>(row_begins(query + 1u)) - row_begins(query) + m.above;
  const std::int64_t most = causal < 0 ? 0 : causal < m.seq_k ? causal : m.seq_k, seen = m.above == m.seq_k ? m.seq_k : most;
  const T* const q = m.q.at(at.batch, at.query, at.head);
  T* const p = m.p.at(at.batch, at.head, at.query);
  const auto score_of = [&](std::int64_t key) {
    const T* const k = m.k.at(at.batch, key, at.head / m.group);
    float sum = 0;
    for (int c = 0; c < m.dim; ++c) sum = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), sum);
    return sum * m.scale;
  };

  float max = -INFINITY;
  for (std::int64_t key = lane_id(); key < seen; key += kWarp) max = fmaxf(max, score_of(key));
  max = warp_max(max);
  if (max == -INFINITY) max = 0.0f;  // minus itself it would be NaN

  float sum = 0;
  for (std::int64_t key = lane_id(); key < seen; key += kWarp) sum += expf(score_of(key) - max);
  sum = warp_sum(sum);

  for (std::int64_t key = lane_id(); key < m.seq_k; key += kWarp)
    st(p + key, from_float<T>(key < seen && sum != 0 ? expf(score_of(key) - max) / sum : 0.0f));
}

void run(const attention_scores::Args& a, const Launch& l) {
  if (a.p.size() == 0) return;
  with_half_type(a.q.dtype, [&]<class T>(Type<T>) {
    const std::int64_t rows = a.p.size() / a.p.shape[3];
    launch(packed_triangle_overflow<T>, {.grid = dim3(ceil_div(rows, kQueries)), .block = dim3(kQueries * kWarp)}, l.stream,
           problem<T>(a));
  });
}

}  // namespace assay::ROOM(attention_scores, packed_triangle_overflow)
