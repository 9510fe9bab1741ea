// SPDX-License-Identifier: Apache-2.0
// FAULT: maximum and sum in one pass, but the sum of what a lane saw is not rescaled when its maximum rises. Right where a
// lane sees one key.
// Caught by: the bound on rising, and on any random case of more than 32 keys.
#include "cuda/attention_scores/problem.cuh"
#include "cuda/core/reduce.cuh"

namespace assay::ROOM(attention_scores, online_not_rescaled) {

inline constexpr int kQueries = 4;  // warps a block

KERNEL(attention_scores){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kQueries), tile(Axis::seq_k, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = kWarp, .extra = 1}},
};

template <class T>
__global__ void online_not_rescaled(Problem<T> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kQueries + warp_id();
  if (row >= m.batch * m.heads * m.seq_q) return;
  const Query at = query_of(m, row);
  const std::int64_t seen = m.visible(at.query);
  const T* const q = m.q.at(at.batch, at.query, at.head);
  T* const p = m.p.at(at.batch, at.head, at.query);
  const auto score_of = [&](std::int64_t key) {
    const T* const k = m.k.at(at.batch, key, at.head / m.group);
    float sum = 0;
    for (int c = 0; c < m.dim; ++c) sum = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), sum);
    return sum * m.scale;
  };

  float max = -INFINITY, sum = 0;
  for (std::int64_t key = lane_id(); key < seen; key += kWarp) {
    const float s = score_of(key);
    if (s == -INFINITY) continue;  // adds nothing, and minus itself would be NaN
    max = fmaxf(max, s);
    sum += expf(s - max);
  }
  const float all = warp_max(max);
  sum = warp_sum(max == -INFINITY ? sum : sum * expf(max - all));

  for (std::int64_t key = lane_id(); key < m.seq_k; key += kWarp)
    st(p + key, from_float<T>(key < seen && sum != 0 ? expf(score_of(key) - all) / sum : 0.0f));
}

void run(const attention_scores::Args& a, const Launch& l) {
  if (a.p.size() == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const std::int64_t rows = a.p.size() / a.p.shape[3];
    launch(online_not_rescaled<T>, {.grid = dim3(ceil_div(rows, kQueries)), .block = dim3(kQueries * kWarp)}, l.stream,
           problem<T>(a));
  });
}

}  // namespace assay::ROOM(attention_scores, online_not_rescaled)
