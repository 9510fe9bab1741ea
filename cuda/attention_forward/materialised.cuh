// SPDX-License-Identifier: Apache-2.0
// Shared by the pipelines that keep all scores in memory: the layout of the scores, and their softmax.
#pragma once

#include "cuda/attention_forward/problem.cuh"
#include "cuda/core/reduce.cuh"

namespace assay::ASSAY_FLAVOUR::attention_forward_room {

inline constexpr int kScoreAccess = 16;      // bytes
inline constexpr int kSoftmaxThreads = 128;  // per row

// Rows of scores start at multiples of 16 bytes for any number of keys.
inline std::int64_t pitch(const attention_forward::Args& a) {
  const std::int64_t width = kScoreAccess / size_of(a.q.dtype);
  return ceil_div(a.k.shape[1], width) * width;
}
inline std::size_t bytes_of_scores(const attention_forward::Args& a) {
  return static_cast<std::size_t>(a.q.shape[0] * a.q.shape[1] * a.q.shape[2] * pitch(a) * size_of(a.q.dtype));
}

// Scores, then probabilities: [batch, heads, seq_q, seq_k], rows `pitch` apart; the padding is written too, since the 16-byte
// accesses read it.
template <class T>
struct Scores {
  T* data;
  std::int64_t pitch;
  __device__ T* row(const Problem<T>& p, int batch, int head, int query) const {
    return data + ((static_cast<std::int64_t>(batch) * p.heads + head) * p.queries + query) * pitch;
  }
};

// One block per row: three passes over the visible keys; hidden keys get zeros.
template <class T>
__global__ void __launch_bounds__(kSoftmaxThreads) attention_forward_softmax(Problem<T> p, Scores<T> scores) {
  constexpr int N = kScoreAccess / sizeof(T);
  using Pack = Vec<T, N>;
  const int query = static_cast<int>(blockIdx.x) % p.queries, all = static_cast<int>(blockIdx.x) / p.queries;
  const int batch = all / p.heads, head = all % p.heads, visible = p.visible(query), packs = static_cast<int>(scores.pitch) / N;
  Pack* const row = reinterpret_cast<Pack*>(scores.row(p, batch, head, query));
  float* const partial = shared_memory<float>();
  const auto each_seen = [&](auto&& use) {
    for (int i = static_cast<int>(threadIdx.x); i * N < visible; i += kSoftmaxThreads) {
      const Pack pack = ld(row + i);
#pragma unroll
      for (int j = 0; j < N; ++j)
        if (i * N + j < visible) use(to_float(pack[j]));
    }
  };

  // Note: fmaxf ignores a NaN, which still reaches the sum through its weight.
  float max = -INFINITY;
  each_seen([&](float s) { max = fmaxf(max, s); });
  max = warp_max(max);
  if (lane_id() == 0) st(partial + warp_id(), max);
  sync_block();
  for (int w = 0; w < kSoftmaxThreads / kWarp; ++w) max = fmaxf(max, ld(partial + w));
  sync_block();
  const float base = max == -INFINITY ? 0.0f : max;
  float sum = 0;
  each_seen([&](float s) { sum += expf(s - base); });
  sum = block_sum(sum, partial);

  const float inverse = 1.0f / sum;
  for (int i = static_cast<int>(threadIdx.x); i < packs; i += kSoftmaxThreads) {
    const Pack pack = i * N < visible ? ld(row + i) : Pack{};
    float v[N];
#pragma unroll
    for (int j = 0; j < N; ++j) v[j] = i * N + j < visible && sum != 0 ? expf(to_float(pack[j]) - base) * inverse : 0.0f;
    st(row + i, from_floats<T>(v));
  }
  if (threadIdx.x == 0) st(p.lse.of(batch, head) + query * p.lse.seq, sum == 0 ? -INFINITY : max + logf(sum));
}

template <class T>
void run_softmax(const Problem<T>& p, const Scores<T>& s, const Launch& l) {
  launch(attention_forward_softmax<T>,
         {.grid = dim3(static_cast<unsigned>(p.batches) * static_cast<unsigned>(p.heads) * static_cast<unsigned>(p.queries)),
          .block = dim3(kSoftmaxThreads),
          .shared_bytes = kWarp * sizeof(float)},
         l.stream, p, s);
}

}  // namespace assay::ASSAY_FLAVOUR::attention_forward_room
