// SPDX-License-Identifier: Apache-2.0
// Two launches: a thread writes each scaled and masked score to P in the dtype; then a warp a row makes it a softmax, in place.
#include "cuda/attention_scores/problem.cuh"
#include "cuda/core/reduce.cuh"

namespace assay::ROOM(attention_scores, scores_wait_in_p) {

using namespace attention_scores_room;

inline constexpr int kThreads = 128;

// A score's products in one chain; the terms of a row in 32 lanes are no longer than that would be.
KERNEL(attention_scores){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kThreads / kWarp), tile(Axis::seq_k, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .stores_intermediate = true},
};

template <class T>
__global__ void attention_scores_to_p(Problem<T> m, std::int64_t all) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= all) return;
  const std::int64_t key = i % m.seq_k;
  const Query at = query_of(m, i / m.seq_k);
  float s = -INFINITY;
  if (key < m.visible(at.query)) {
    const T* const q = m.q.at(at.batch, at.query, at.head);
    const T* const k = m.k.at(at.batch, key, at.head / m.group);
    float dot = 0;
    for (int c = 0; c < m.dim; ++c) dot = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), dot);
    s = dot * m.scale;
  }
  st(m.p.at(at.batch, at.head, at.query) + key, from_float<T>(s));
}

template <class T>
__global__ void attention_scores_to_softmax(Problem<T> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * (kThreads / kWarp) + warp_id();
  if (row >= m.batch * m.heads * m.seq_q) return;
  const Query at = query_of(m, row);
  T* const p = m.p.at(at.batch, at.head, at.query);
  const std::int64_t seen = m.visible(at.query);
  float max = -INFINITY, sum = 0;
  for (std::int64_t key = lane_id(); key < seen; key += kWarp) max = fmaxf(max, to_float(ld(p + key)));
  max = warp_max(max);
  const float base = max == -INFINITY ? 0.0f : max;
  for (std::int64_t key = lane_id(); key < seen; key += kWarp) sum += expf(to_float(ld(p + key)) - base);
  sum = warp_sum(sum);
  for (std::int64_t key = lane_id(); key < m.seq_k; key += kWarp)
    st(p + key, from_float<T>(key < seen && sum != 0 ? expf(to_float(ld(p + key)) - base) / sum : 0.0f));
}

void run(const attention_scores::Args& a, const Launch& l) {
  const std::int64_t all = a.p.size();
  if (all == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> m = problem<T>(a);
    launch(attention_scores_to_p<T>, {.grid = dim3(ceil_div(all, kThreads)), .block = dim3(kThreads)}, l.stream, m, all);
    launch(attention_scores_to_softmax<T>, {.grid = dim3(ceil_div(all / m.seq_k, kThreads / kWarp)), .block = dim3(kThreads)},
           l.stream, m);
  });
}

}  // namespace assay::ROOM(attention_scores, scores_wait_in_p)
