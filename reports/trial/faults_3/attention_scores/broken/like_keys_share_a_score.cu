// SPDX-License-Identifier: Apache-2.0
// FAULT: a lane takes the score of its last key again if the next one begins with the same four channels.
// Kind: cheats
// Shows: keys that agree in their first four channels and differ later.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, like_keys_share_a_score) {

inline constexpr int kSame = 4;

template <class T>
__global__ void attention_scores_sharing(Problem<T> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kPlainQueries + warp_id();
  if (row >= m.batch * m.heads * m.seq_q) return;
  const Query at = query_of(m, row);
  const T* const q = m.q.at(at.batch, at.query, at.head);
  T* const p = m.p.at(at.batch, at.head, at.query);
  const T* last = nullptr;
  float last_score = 0;
  const auto score_of = [&](std::int64_t key) {
    const T* const k = m.k.at(at.batch, key, at.head / m.group);
    bool same = last != nullptr && m.dim > kSame;
    for (int c = 0; c < kSame && same; ++c) same = to_float(ld(k + c)) == to_float(ld(last + c));
    last = k;
    if (same) return last_score;
    float dot = 0;
    for (int c = 0; c < m.dim; ++c) dot = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), dot);
    return last_score = dot * m.scale;
  };
  const std::int64_t seen = m.visible(at.query);
  float max = -INFINITY, sum = 0;
  for (std::int64_t key = lane_id(); key < seen; key += kWarp) max = fmaxf(max, score_of(key));
  max = warp_max(max);
  const float base = max == -INFINITY ? 0.0f : max;
  for (std::int64_t key = lane_id(); key < seen; key += kWarp) sum += expf(score_of(key) - base);
  sum = warp_sum(sum);
  for (std::int64_t key = lane_id(); key < m.seq_k; key += kWarp)
    st(p + key, from_float<T>(key < seen && sum != 0 ? expf(score_of(key) - base) / sum : 0.0f));
}

KERNEL(attention_scores) = plain_traits<Plain>();

void run(const attention_scores::Args& a, const Launch& l) {
  if (a.p.size() == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    launch(attention_scores_sharing<T>,
           {.grid = dim3(ceil_div(a.p.size() / a.p.shape[3], kPlainQueries)), .block = dim3(kPlainQueries * kWarp)}, l.stream,
           problem<T>(a));
  });
}

}  // namespace assay::ROOM(attention_scores, like_keys_share_a_score)
