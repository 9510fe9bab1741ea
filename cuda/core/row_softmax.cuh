// SPDX-License-Identifier: Apache-2.0
// The softmax of one row by a warp or a block.  A row that fits stays in registers; a longer one is read twice, by an online
// softmax.  A row of nothing but -inf gives NaN, as in the formula, or zero; the op decides which.
#pragma once

#include "cuda/core/exponential.cuh"
#include "cuda/core/row_pack.cuh"

namespace assay::ASSAY_FLAVOUR::row_softmax {

using namespace row_pack;

// exp(d) for d <= 0.
template <class T>
__device__ inline float exponential(float d) {
  if constexpr (std::is_same_v<T, float>) return expf(d);
  else return exp_approx(d);
}

// --- A batch: V columns a thread, in packs of N that are one access each, the packs of one thread `threads` apart -------
//
// x, y: the batch's first pack.  `left`: packs of the row from there on.  Columns beyond it count as -inf, a term of zero.
// Note: indices are 32-bit, from one pointer, since a 64-bit index for each pack spilled.

template <class T, int N, int V>
__device__ inline void load_batch(float (&v)[V], const T* x, int left, int thread, int threads) {
  static_assert(V % N == 0);
  Raw<T, N> raw[V / N] = {};
#pragma unroll
  for (int g = 0; g < V / N; ++g)
    if (const int p = g * threads + thread; p < left) raw[g] = ld(reinterpret_cast<const Raw<T, N>*>(x) + p);
#pragma unroll
  for (int g = 0; g < V / N; ++g) {
    const Vec<T, N> in = elements<T, N>(raw[g]);
#pragma unroll
    for (int j = 0; j < N; ++j) v[g * N + j] = g * threads + thread < left ? to_float(in[j]) : -INFINITY;
  }
}

template <class T, int N, int V>
__device__ inline void store_batch(T* y, const float (&v)[V], int left, int thread, int threads) {
#pragma unroll
  for (int g = 0; g < V / N; ++g) {
    const int p = g * threads + thread;
    float out[N];
#pragma unroll
    for (int j = 0; j < N; ++j) out[j] = v[g * N + j];
    if (p < left) st(reinterpret_cast<Vec<T, N>*>(y) + p, from_floats<T>(out));
  }
}

// Calls f(first column, packs left) for each batch of a row of `packs`.
template <int N, int V, class F>
__device__ inline void each_batch(std::int64_t packs, int threads, F f) {
  const int step = V / N * threads;
  for (std::int64_t first = 0; first < packs; first += step)
    f(first * N, static_cast<int>(packs - first < step ? packs - first : step));
}

template <int V>
__device__ inline float max_of(const float (&v)[V]) {
  float m = v[0];
#pragma unroll
  for (int i = 1; i < V; ++i) m = fmaxf(m, v[i]);
  return m;
}

// Adds eights pairwise, and their sums one after the other: 3 + V/8 - 1 additions deep.
template <int V>
__device__ inline float sum_of(const float (&v)[V]) {
  static_assert(V % 8 == 0);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < V; i += 8)
    sum += ((v[i] + v[i + 4]) + (v[i + 2] + v[i + 6])) + ((v[i + 1] + v[i + 5]) + (v[i + 3] + v[i + 7]));
  return sum;
}

// A row of `cols` elements.  With N elements an access, x and y must lie at multiples of N elements.
template <class T>
struct Row {
  const T* x;
  T* y;
  std::int64_t cols;
};

enum class Nothing { is_nan, is_zero };  // the result of a row of nothing but -inf

// The value that is subtracted before exp.  Note: if all are -inf it is 0: -inf - (-inf) would be NaN, and exp(-inf - 0) is 0.
__device__ inline float anchor(float max) { return max == -INFINITY ? 0.0f : max; }
template <Nothing kNothing>
__device__ inline float last_anchor(float max) {
  return kNothing == Nothing::is_zero ? anchor(max) : max;
}
template <Nothing kNothing>
__device__ inline float reciprocal(float sum) {
  return kNothing == Nothing::is_zero && sum == 0 ? 0.0f : 1.0f / sum;
}

// Computes a row of at most V columns a thread, beside the tail.  Longest chain of additions: sum_of, the tail, the group.
template <Nothing kNothing, int N, int V, class T, class Group>
__device__ inline void held(const Row<T>& row, const Group& group) {
  const int packs = static_cast<int>(row.cols) / N, thread = group.thread(), threads = group.threads();
  const std::int64_t tail = tail_column<N>(row.cols, thread);
  float v[V], extra = -INFINITY;
  load_batch<T, N>(v, row.x, packs, thread, threads);
  if (tail < row.cols) extra = to_float(ld(row.x + tail));

  const float max = last_anchor<kNothing>(group.max(fmaxf(max_of(v), extra)));
#pragma unroll
  for (int i = 0; i < V; ++i) v[i] = exponential<T>(v[i] - max);
  extra = exponential<T>(extra - max);

  const float r = reciprocal<kNothing>(group.sum(sum_of(v) + extra));
#pragma unroll
  for (int i = 0; i < V; ++i) v[i] *= r;
  store_batch<T, N>(row.y, v, packs, thread, threads);
  if (tail < row.cols) st(row.y + tail, from_float<T>(extra * r));
}

// The maximum, and the sum of exp(x - max), of the elements added so far.
template <class T>
struct Online {
  float max = -INFINITY, sum = 0;
  // The sum relative to a larger maximum.
  __device__ float rescaled(float larger) const { return sum * exponential<T>(max - anchor(larger)); }
  template <int V>
  __device__ void add(float (&v)[V]) {
    const float larger = fmaxf(max, max_of(v));
    const float at = anchor(larger);
#pragma unroll
    for (int i = 0; i < V; ++i) v[i] = exponential<T>(v[i] - at);
    sum = rescaled(larger) + sum_of(v);
    max = larger;
  }
  __device__ void add(float v) {
    const float larger = fmaxf(max, v);
    sum = rescaled(larger) + exponential<T>(v - anchor(larger));
    max = larger;
  }
};

// Computes a row of any length, V columns a thread at a time.  It is read for maximum and sum, and again for the output.
template <Nothing kNothing, int N, int V, class T, class Group>
__device__ inline void online(const Row<T>& row, const Group& group) {
  const int thread = group.thread(), threads = group.threads();
  const std::int64_t packs = row.cols / N, tail = tail_column<N>(row.cols, thread);

  Online<T> seen;
  float v[V];
  each_batch<N, V>(packs, threads, [&](std::int64_t first, int left) {
    load_batch<T, N>(v, row.x + first, left, thread, threads);
    seen.add(v);
  });
  if (tail < row.cols) seen.add(to_float(ld(row.x + tail)));
  const float all = group.max(seen.max), max = last_anchor<kNothing>(all);
  const float r = reciprocal<kNothing>(group.sum(seen.rescaled(all)));

  each_batch<N, V>(packs, threads, [&](std::int64_t first, int left) {
    load_batch<T, N>(v, row.x + first, left, thread, threads);
#pragma unroll
    for (int i = 0; i < V; ++i) v[i] = exponential<T>(v[i] - max) * r;
    store_batch<T, N>(row.y + first, v, left, thread, threads);
  });
  if (tail < row.cols) st(row.y + tail, from_float<T>(exponential<T>(to_float(ld(row.x + tail)) - max) * r));
}

// The block for a row: kBatch columns a thread, and as many threads as hold the row, up to kMostThreads.  Note: with
// N = 1 a thread has eight times the addresses, which do not fit 64 registers beside the columns.
inline constexpr int kBatch = 32;
template <int N>
inline constexpr int kMostThreads = N == 1 ? 512 : 1024;
template <int N>
inline constexpr std::int64_t kMostHeld = kBatch* kMostThreads<N>;
template <int N>
int threads_for(std::int64_t cols) {
  return kWarp * static_cast<int>(std::clamp<std::int64_t>(ceil_div(cols, kBatch * kWarp), 1, kMostThreads<N> / kWarp));
}
// Its longest chain of additions: 3 + 3 in a batch, one more for each further batch, 1 for the tail, 10 in the block.
inline constexpr Chain kBlockChain = {.lanes = kMostHeld<1>, .extra = 6 + 1 + 10};
// Its rescales of an online sum: one for each batch but the first, one for the tail, one in the block.
inline constexpr Chain kBlockRescales = {.lanes = kMostHeld<1>, .extra = 1};

}  // namespace assay::ASSAY_FLAVOUR::row_softmax
