// SPDX-License-Identifier: Apache-2.0
// FAULT: a warp keeps its scores in shared memory for 1024 keys; those of a longer row run into the scores of the next warp.
// Kind: concurrency
// Shows: more than 1024 keys.
#include "cuda/attention_scores/problem.cuh"
#include "cuda/core/reduce.cuh"

namespace assay::ROOM(attention_scores, shared_scores_of_long_rows) {

inline constexpr int kWarps = 2, kKeys = 1024;

template <class T>
__global__ void attention_scores_kept(Problem<T> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (row >= m.batch * m.heads * m.seq_q) return;
  const Query at = query_of(m, row);
  const T* const q = m.q.at(at.batch, at.query, at.head);
  T* const p = m.p.at(at.batch, at.head, at.query);
  float* const scores = shared_memory<float>() + warp_id() * kKeys;
  // Longer rows wrap around within the block's memory.
  const auto place = [&](std::int64_t key) { return (warp_id() * kKeys + key) % (kWarps * kKeys) - warp_id() * kKeys; };
  const std::int64_t seen = m.visible(at.query);
  const auto score = [&](std::int64_t key) {
    const T* const k = m.k.at(at.batch, key, at.head / m.group);
    float dot = 0;
    for (int c = 0; c < m.dim; ++c) dot = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), dot);
    return dot * m.scale;
  };
  float max = -INFINITY, sum = 0;
  for (std::int64_t key = lane_id(); key < seen; key += kWarp) {
    const float s = score(key);
    st(scores + place(key), s);
    max = fmaxf(max, s);
  }
  max = warp_max(max);
  const float base = max == -INFINITY ? 0.0f : max;
  for (std::int64_t key = lane_id(); key < seen; key += kWarp) sum += expf(ld(scores + place(key)) - base);
  sum = warp_sum(sum);
  for (std::int64_t key = lane_id(); key < m.seq_k; key += kWarp)
    st(p + key, from_float<T>(key < seen && sum != 0 ? expf(ld(scores + place(key)) - base) / sum : 0.0f));
}

KERNEL(attention_scores){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kWarps), tile(Axis::seq_k, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

void run(const attention_scores::Args& a, const Launch& l) {
  if (a.p.size() == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    launch(attention_scores_kept<T>,
           {.grid = dim3(ceil_div(a.p.size() / a.p.shape[3], kWarps)),
            .block = dim3(kWarps * kWarp),
            .shared_bytes = kWarps * kKeys * sizeof(float)},
           l.stream, problem<T>(a));
  });
}

}  // namespace assay::ROOM(attention_scores, shared_scores_of_long_rows)
