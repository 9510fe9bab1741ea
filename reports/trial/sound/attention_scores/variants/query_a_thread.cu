// SPDX-License-Identifier: Apache-2.0
// A query a thread: its scores are taken three times, for the maximum, for the sum and for P, each in one chain; the reciprocal
// of
// the sum multiplies the terms.
#include "cuda/attention_scores/problem.cuh"

namespace assay::ROOM(attention_scores, query_a_thread) {

using namespace attention_scores_room;

inline constexpr int kThreads = 32;

KERNEL(attention_scores){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void attention_scores_query_a_thread(Problem<T> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= m.batch * m.heads * m.seq_q) return;
  const Query at = query_of(m, row);
  const T* const q = m.q.at(at.batch, at.query, at.head);
  T* const p = m.p.at(at.batch, at.head, at.query);
  const auto score = [&](std::int64_t key) {
    const T* const k = m.k.at(at.batch, key, at.head / m.group);
    float dot = 0;
    for (int c = m.dim - 1; c >= 0; --c) dot = fmaf(to_float(ld(k + c)), to_float(ld(q + c)), dot);
    return m.scale * dot;
  };
  const std::int64_t seen = m.visible(at.query);
  float max = -INFINITY, sum = 0;
  for (std::int64_t key = 0; key < seen; ++key) max = fmaxf(max, score(key));
  if (max == -INFINITY) max = 0;  // -inf minus itself would be NaN
  for (std::int64_t key = 0; key < seen; ++key) sum += expf(score(key) - max);
  const float part = 1.0f / sum;
  for (std::int64_t key = 0; key < m.seq_k; ++key)
    st(p + key, from_float<T>(key < seen && sum != 0 ? expf(score(key) - max) * part : 0.0f));
}

void run(const attention_scores::Args& a, const Launch& l) {
  if (a.p.size() == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    launch(attention_scores_query_a_thread<T>,
           {.grid = dim3(ceil_div(a.p.size() / a.p.shape[3], kThreads)), .block = dim3(kThreads)}, l.stream, problem<T>(a));
  });
}

}  // namespace assay::ROOM(attention_scores, query_a_thread)
