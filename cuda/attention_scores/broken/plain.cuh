// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): one warp a query, a lane a key; the maximum, the sum, and P, for each of
// which the dot products are taken again.
#pragma once

#include "cuda/attention_scores/problem.cuh"
#include "cuda/core/kernel_family.cuh"
#include "cuda/core/reduce.cuh"

namespace assay::ASSAY_FLAVOUR::attention_scores_room {

inline constexpr int kPlainQueries = 4;  // warps a block

// What a query's terms are relative to, and what they are divided by.
struct Sum {
  float base, sum;
};

// Every step as it should be.
template <class T>
struct Plain {
  static constexpr Chain kRescales = {.lanes = 0};  // as declared

  // How many keys a query sees, how many of them the maximum and the sum run over, and how many of P are written.
  static __device__ std::int64_t seen(const Problem<T>& m, std::int64_t query) { return m.visible(query); }
  static __device__ std::int64_t in_maximum(const Problem<T>&, std::int64_t seen) { return seen; }
  static __device__ std::int64_t in_sum(const Problem<T>&, std::int64_t seen) { return seen; }
  static __device__ std::int64_t written(const Problem<T>& m, std::int64_t /*seen*/) { return m.seq_k; }
  // The key that is taken when 0, 1, ... count - 1 would be.
  static __device__ std::int64_t taken(std::int64_t key, std::int64_t /*count*/) { return key; }

  // A score: the key's channels, the products summed up, and what becomes of their sum.
  static __device__ const T* channels(const Problem<T>& m, const Query& at, std::int64_t key) {
    return m.k.at(at.batch, key, at.head / m.group);
  }
  static __device__ float query_value(const Problem<T>&, T q) { return to_float(q); }
  static __device__ float dot_so_far(float sum) { return sum; }
  static __device__ float score(const Problem<T>& m, float dot, std::int64_t /*query*/, std::int64_t /*key*/) {
    return dot * m.scale;
  }

  static __device__ float base(float max) { return max == -INFINITY ? 0.0f : max; }  // -inf minus itself would be NaN
  static __device__ float exponential(float v) { return expf(v); }
  // What the sum holds beside the terms of keys.
  static __device__ float padding(const Problem<T>&, std::int64_t /*seen*/, float /*base*/) { return 0; }
  // score(key) of the query's keys.
  template <class S, class Score>
  static __device__ Sum sum(const Problem<T>& m, std::int64_t seen, Score score) {
    const std::int64_t in_maximum = S::in_maximum(m, seen), in_sum = S::in_sum(m, seen);
    float max = -INFINITY, sum = 0;
    for (std::int64_t key = lane_id(); key < in_maximum; key += kWarp) max = fmaxf(max, score(S::taken(key, in_maximum)));
    const float base = S::base(warp_max(max));
    for (std::int64_t key = lane_id(); key < in_sum; key += kWarp) sum += S::exponential(score(S::taken(key, in_sum)) - base);
    return {base, warp_sum(sum) + S::padding(m, seen, base)};
  }
  static __device__ float probability(float term, float sum) { return term / sum; }
};

template <class T, class S>
__global__ void attention_scores_plain(Problem<T> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kPlainQueries + warp_id();
  if (row >= m.batch * m.heads * m.seq_q) return;
  const Query at = query_of(m, row);
  const T* const q = m.q.at(at.batch, at.query, at.head);
  T* const p = m.p.at(at.batch, at.head, at.query);
  const auto score_of = [&](std::int64_t key) {
    const T* const k = S::channels(m, at, key);
    float dot = 0;
    for (int c = 0; c < m.dim; ++c) dot = S::dot_so_far(fmaf(S::query_value(m, ld(q + c)), to_float(ld(k + c)), dot));
    return S::score(m, dot, at.query, key);
  };

  const std::int64_t seen = S::seen(m, at.query);
  const Sum by = S::template sum<S>(m, seen, score_of);
  const std::int64_t written = S::written(m, seen);
  for (std::int64_t key = lane_id(); key < written; key += kWarp) {
    const bool counts = key < seen && by.sum != 0;
    st(p + key, from_float<T>(counts ? S::probability(S::exponential(score_of(key) - by.base), by.sum) : 0.0f));
  }
}

template <template <class> class S>
constexpr KernelTraits<attention_scores> plain_traits(DTypes dtypes = kEveryType) {
  return {.dtypes = dtypes,
          .tiles = {tile(Axis::seq_q, kPlainQueries), tile(Axis::seq_k, kWarp)},
          .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = S<float>::kRescales}};
}

template <template <class> class S>
void run_plain(const attention_scores::Args& a, const Launch& l) {
  if (a.p.size() == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const std::int64_t rows = a.p.size() / a.p.shape[3];
    launch(attention_scores_plain<T, S<T>>, {.grid = dim3(ceil_div(rows, kPlainQueries)), .block = dim3(kPlainQueries * kWarp)},
           l.stream, problem<T>(a));
  });
}

}  // namespace assay::ASSAY_FLAVOUR::attention_scores_room
