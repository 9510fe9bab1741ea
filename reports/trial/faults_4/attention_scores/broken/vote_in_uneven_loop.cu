// SPDX-License-Identifier: Apache-2.0
// FAULT: lets all 32 lanes vote whether a group of keys is -inf throughout, within a loop that lanes leave at different keys.
// Visible where the number of visible keys is no multiple of 32: lanes wait for ones that have left, or vote with lanes of
// another iteration.
// KIND: concurrency
#include "cuda/attention_scores/problem.cuh"
#include "cuda/core/reduce.cuh"

namespace assay::ROOM(attention_scores, vote_in_uneven_loop) {

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
__global__ void attention_scores_naive(Problem<T> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kQueries + warp_id();
  if (row >= m.batch * m.heads * m.seq_q) return;
  const Query at = query_of(m, row);
  const std::int64_t seen = m.visible(at.query);
  const T* const q = m.q.at(at.batch, at.query, at.head);
  T* const p = m.p.at(at.batch, at.head, at.query);
  const auto score_of = [&](std::int64_t key) { return score(q, m.k.at(at.batch, key, at.head / m.group), m.dim, m.scale); };

  float max = -INFINITY, sum = 0;
  for (std::int64_t key = lane_id(); key < seen; key += kWarp) {
    const float s = score_of(key), larger = fmaxf(max, s);
    if (all(s == -INFINITY)) continue;  // the group contributes nothing; -inf - -inf would be NaN
    if (s == -INFINITY) continue;
    sum = fmaf(sum, expf(max - larger), expf(s - larger));
    max = larger;
  }
  // Note: a lane without keys has sum 0 and the factor exp(-inf) = 0, unless no lane has a key.
  const float largest = warp_max(max);
  sum = warp_sum(max == -INFINITY ? sum : sum * expf(max - largest));

  for (std::int64_t key = lane_id(); key < m.seq_k; key += kWarp) {
    float v = 0;
    if (key < seen) {
      const float s = score_of(key);
      if (s != -INFINITY || sum != 0) v = expf(s - largest) / sum;
    }
    st(p + key, from_float<T>(v));
  }
}

void run(const attention_scores::Args& a, const Launch& l) {
  if (a.p.size() == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const std::int64_t rows = a.p.size() / a.p.shape[3];
    launch(attention_scores_naive<T>, {.grid = dim3(ceil_div(rows, kQueries)), .block = dim3(kQueries * kWarp)}, l.stream,
           problem<T>(a));
  });
}

}  // namespace assay::ROOM(attention_scores, vote_in_uneven_loop)
