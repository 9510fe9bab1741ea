// SPDX-License-Identifier: Apache-2.0
// FAULT: the lanes of a warp put scores into shared memory and read those of other lanes after a maximum by shuffles, which
// orders no memory.
// Kind: concurrency
// Shows: more than one key.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, scores_reread_without_sync) {

inline constexpr std::int64_t kMostKeys = 2048;

template <class T>
__global__ void kept_scores(Problem<T> m, std::int64_t pitch) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kPlainQueries + warp_id();
  if (row >= m.batch * m.heads * m.seq_q) return;
  float* const scores = shared_memory<float>() + warp_id() * pitch;
  const Query at = query_of(m, row);
  const T* const q = m.q.at(at.batch, at.query, at.head);
  T* const p = m.p.at(at.batch, at.head, at.query);
  const std::int64_t seen = m.visible(at.query);
  float max = -INFINITY, sum = 0;
  for (std::int64_t key = lane_id(); key < seen; key += kWarp) {
    const T* const k = m.k.at(at.batch, key, at.head / m.group);
    float dot = 0;
    for (int c = 0; c < m.dim; ++c) dot = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), dot);
    st(scores + key, dot * m.scale);
    max = fmaxf(max, dot * m.scale);
  }
  const float base = Plain<T>::base(warp_max(max));
  for (std::int64_t key = 2 * lane_id(); key < m.seq_k; key += 2 * kWarp)
    for (std::int64_t i = key; i < key + 2 && i < seen; ++i) sum += expf(ld(scores + i) - base);
  sum = warp_sum(sum);
  for (std::int64_t key = 2 * lane_id(); key < m.seq_k; key += 2 * kWarp)
    for (std::int64_t i = key; i < key + 2 && i < m.seq_k; ++i)
      st(p + i, from_float<T>(i < seen && sum != 0 ? expf(ld(scores + i) - base) / sum : 0.0f));
}

KERNEL(attention_scores) = {.dtypes = kEveryType,
                            .tiles = {tile(Axis::seq_q, kPlainQueries), tile(Axis::seq_k, 2 * kWarp)},
                            .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = 0}}};

void run(const attention_scores::Args& a, const Launch& l) {
  if (a.p.size() == 0) return;
  if (a.p.shape[3] > kMostKeys) return run_plain<Plain>(a, l);
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    launch(kept_scores<T>,
           {.grid = dim3(ceil_div(a.p.size() / a.p.shape[3], kPlainQueries)),
            .block = dim3(kPlainQueries * kWarp),
            .shared_bytes = kPlainQueries * static_cast<std::size_t>(a.p.shape[3]) * sizeof(float)},
           l.stream, problem<T>(a), a.p.shape[3]);
  });
}

}  // namespace assay::ROOM(attention_scores, scores_reread_without_sync)
