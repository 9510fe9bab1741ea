// SPDX-License-Identifier: Apache-2.0
// FAULT: scores are kept in shared memory for 1024 keys, and the sum does not run over the keys after them.
// Kind: offsets
// Shows: more than 1024 visible keys.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, keys_beyond_1024_not_in_sum) {

inline constexpr int kKept = 1024;

template <class T>
__global__ void attention_scores_kept(Problem<T> m) {
  float* const kept = shared_memory<float>();
  const std::int64_t row = blockIdx.x;
  const Query at = query_of(m, row);
  const T* const q = m.q.at(at.batch, at.query, at.head);
  T* const p = m.p.at(at.batch, at.head, at.query);
  const auto score_of = [&](std::int64_t key) {
    const T* const k = m.k.at(at.batch, key, at.head / m.group);
    float dot = 0;
    for (int c = 0; c < m.dim; ++c) dot = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), dot);
    return dot * m.scale;
  };
  const std::int64_t seen = m.visible(at.query), short_end = seen < kKept ? seen : kKept;
  float max = -INFINITY, sum = 0;
  for (std::int64_t key = threadIdx.x; key < seen; key += 128) {
    const float s = score_of(key);
    if (key < kKept) st(kept + key, s);
    max = fmaxf(max, s);
  }
  max = block_max(max, kept + kKept);
  const float base = max == -INFINITY ? 0.0f : max;
  for (std::int64_t key = threadIdx.x; key < short_end; key += 128) sum += expf(ld(kept + key) - base);
  sum = block_sum(sum, kept + kKept);
  for (std::int64_t key = threadIdx.x; key < m.seq_k; key += 128) {
    const float s = key < seen ? key < kKept ? ld(kept + key) : score_of(key) : 0.0f;
    st(p + key, from_float<T>(key < seen && sum != 0 ? expf(s - base) / sum : 0.0f));
  }
}

KERNEL(attention_scores){.dtypes = kEveryType,
                         .tiles = {tile(Axis::seq_k, 128)},
                         .numerics = {.accumulate = f32, .chain = {.lanes = 1}}};

void run(const attention_scores::Args& a, const Launch& l) {
  if (a.p.size() == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    launch(attention_scores_kept<T>,
           {.grid = dim3(a.p.size() / a.p.shape[3]), .block = dim3(128), .shared_bytes = (kKept + kWarp) * sizeof(float)},
           l.stream, problem<T>(a));
  });
}

}  // namespace assay::ROOM(attention_scores, keys_beyond_1024_not_in_sum)
