// SPDX-License-Identifier: Apache-2.0
// The naive kernel, its keys taken from the last to the first.
#include "cuda/attention_scores/problem.cuh"
#include "cuda/core/reduce.cuh"

namespace assay::ROOM(attention_scores, reversed_sum) {

inline constexpr int kQueries = 4;  // warps per block

KERNEL(attention_scores){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kQueries), tile(Axis::seq_k, kWarp)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = 1, .extra = 0},  // of a dot product; 32 lanes share the sum
                 .rescales = {.lanes = kWarp, .extra = 1}},
};

template <class T>
__device__ inline float score(const T* q, const T* k, int dim, float scale) {
  float sum = 0;
  for (int c = 0; c < dim; ++c) sum = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), sum);
  return sum * scale;
}

template <class T>
__global__ void attention_scores_reversed(Problem<T> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kQueries + warp_id();
  if (row >= m.batch * m.heads * m.seq_q) return;
  const Query at = query_of(m, row);
  const std::int64_t seen = m.visible(at.query);
  const T* const q = m.q.at(at.batch, at.query, at.head);
  T* const p = m.p.at(at.batch, at.head, at.query);
  const auto score_of = [&](std::int64_t key) { return score(q, m.k.at(at.batch, key, at.head / m.group), m.dim, m.scale); };

  float max = -INFINITY, sum = 0;
  for (std::int64_t key = lane_id(); key < seen; key += kWarp) {
    const float s = score_of(seen - 1 - key), larger = fmaxf(max, s);
    if (s == -INFINITY) continue;  // contributes nothing; -inf - -inf would be NaN
    sum = fmaf(sum, expf(max - larger), expf(s - larger));
    max = larger;
  }
  // Note: a lane without keys has sum 0 and the factor exp(-inf) = 0, unless no lane has a key.
  const float all = warp_max(max);
  sum = warp_sum(max == -INFINITY ? sum : sum * expf(max - all));

  for (std::int64_t key = lane_id(); key < m.seq_k; key += kWarp) {
    float v = 0;
    if (key < seen) {
      const float s = score_of(key);
      if (s != -INFINITY || sum != 0) v = expf(s - all) / sum;
    }
    st(p + key, from_float<T>(v));
  }
}

void run(const attention_scores::Args& a, const Launch& l) {
  if (a.p.size() == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const std::int64_t rows = a.p.size() / a.p.shape[3];
    launch(attention_scores_reversed<T>, {.grid = dim3(ceil_div(rows, kQueries)), .block = dim3(kQueries * kWarp)}, l.stream,
           problem<T>(a));
  });
}

}  // namespace assay::ROOM(attention_scores, reversed_sum)
