// SPDX-License-Identifier: Apache-2.0
// The softmax step, shared by the pipelines that keep scores in workspace.
#pragma once

#include "cuda/attention_scores/problem.cuh"
#include "cuda/core/row_softmax.cuh"

namespace assay::ASSAY_FLAVOUR::attention_scores_room {

// Rows of scores start at multiples of 16 bytes for any number of keys.
inline std::int64_t pitch(const attention_scores::Args& a) { return ceil_div(a.k.shape[1], 8) * 8; }
inline std::size_t bytes_of_scores(const attention_scores::Args& a) {
  if (a.p.size() == 0) return 0;
  return static_cast<std::size_t>(a.p.size() / a.p.shape[3] * pitch(a) * size_of(a.p.dtype));
}

template <class T, int N, bool kHeld>
__global__ void __launch_bounds__(row_softmax::kMostThreads<N>)
    attention_scores_softmax(Problem<T> m, const T* scores, std::int64_t pitch) {
  using namespace row_softmax;
  const Query at = query_of(m, blockIdx.x);
  T* const p = m.p.at(at.batch, at.head, at.query);
  const Row<T> row{scores + blockIdx.x * pitch, p, m.visible(at.query)};
  const Block block{shared_memory<float>()};
  if constexpr (kHeld) held<Nothing::is_zero, N, kBatch>(row, block);
  else online<Nothing::is_zero, N, kBatch>(row, block);

  // Hidden keys get zeros, N at a time from the first multiple of N on.
  const std::int64_t start = ceil_div(row.cols, N) * N, end = m.seq_k / N * N;
  for (std::int64_t key = start + block.thread() * N; key < end; key += block.threads() * N)
    st(reinterpret_cast<Vec<T, N>*>(p + key), Vec<T, N>{});
  if (const std::int64_t key = row.cols + block.thread(); key < start && key < m.seq_k) st(p + key, from_float<T>(0));
  if (const std::int64_t key = end + block.thread(); key >= start && key < m.seq_k) st(p + key, from_float<T>(0));
}

template <class T, int N>
void run_softmax(const Problem<T>& m, const T* scores, std::int64_t pitch, const Launch& l) {
  using namespace row_softmax;
  launch(m.seq_k <= kMostHeld<N> ? attention_scores_softmax<T, N, true> : attention_scores_softmax<T, N, false>,
         {.grid = dim3(m.batch * m.heads * m.seq_q), .block = dim3(threads_for<N>(m.seq_k)), .shared_bytes = kScratchBytes},
         l.stream, m, scores, pitch);
}

// Softmax of scores in workspace, rows `pitch` apart.  `masked`: hidden keys are already -inf and are read.
inline void softmax_step(const attention_scores::Args& a, const Launch& l, bool masked = false) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    Problem<T> m = problem<T>(a);
    if (masked) m.above = m.seq_k;
    const T* const scores = static_cast<const T*>(l.workspace);
    a.p.rows_aligned(16) ? run_softmax<T, row_softmax::kPerAccess<T>>(m, scores, pitch(a), l)
                         : run_softmax<T, 1>(m, scores, pitch(a), l);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::attention_scores_room
