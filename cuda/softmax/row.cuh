// SPDX-License-Identifier: Apache-2.0
// What the kernels of this room share: their arguments as they travel to the device, and the columns of a row as a group of
// threads (a warp or a block) holds them.
#pragma once

#include <type_traits>

#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ASSAY_FLAVOUR::softmax_room {

template <class T>
struct Matrices {
  const T* x;  // [rows, cols], rows x_stride elements apart
  T* y;        // [rows, cols]
  std::int64_t rows, cols, x_stride, y_stride;
};

template <class T>
Matrices<T> matrices(const softmax::Args& a) {
  return {a.x.as<T>(), a.y.as<T>(), a.x.shape[0], a.x.shape[1], a.x.stride[0], a.y.stride[0]};
}

inline constexpr int kAccess = 16;  // bytes: the widest access there is
template <class T>
inline constexpr int kPerAccess = kAccess / static_cast<int>(sizeof(T));

inline bool wide(const softmax::Args& a) { return a.x.rows_aligned(kAccess) && a.y.rows_aligned(kAccess); }

// exp(d), d <= 0.  In 16 bits by the base that the hardware has: 2u|d| more in the exponent, and subnormals are zero.
template <class T>
__device__ inline float exponential(float d) {
  if constexpr (std::is_same_v<T, float>) return expf(d);
  else return exp2_approx(d * 1.4426950408889634f);
}

// N elements as they came.  Note: words, since the compiler gives every 16-bit element of a Vec<T, N> a register of its own.
template <class T, int N>
using Raw = std::conditional_t<N == 1, Vec<T, 1>, Vec<unsigned, N * sizeof(T) / sizeof(unsigned)>>;

template <class T, int N>
__device__ inline Vec<T, N> elements(const Raw<T, N>& raw) {
  return __builtin_bit_cast(Vec<T, N>, raw);
}

// --- A batch: V columns a thread, in packs of N that are one access each, the packs of one thread `threads` apart -------
//
// x, y: the batch's first pack.  left: the packs from there on, at least 1; what lies beyond is -inf, so that it adds nothing
// to a sum.  Note: 32-bit indices from one pointer; 64-bit ones, a pack each, spilled.

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

// The elements after the last whole pack are fewer than a warp: one a thread.
template <int N>
__device__ inline std::int64_t tail_column(std::int64_t cols, int thread) {
  static_assert(N <= kWarp);
  return N > 1 ? cols / N * N + thread : cols;
}

template <int V>
__device__ inline float max_of(const float (&v)[V]) {
  float m = v[0];
#pragma unroll
  for (int i = 1; i < V; ++i) m = fmaxf(m, v[i]);
  return m;
}

// Eights pairwise, then one after the other: 3 + V/8 - 1 additions deep.
template <int V>
__device__ inline float sum_of(const float (&v)[V]) {
  static_assert(V % 8 == 0);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < V; i += 8)
    sum += ((v[i] + v[i + 4]) + (v[i + 2] + v[i + 6])) + ((v[i + 1] + v[i + 5]) + (v[i + 3] + v[i + 7]));
  return sum;
}

// A row of at most V * threads columns, in the registers of `threads` threads from beginning to end.  Note: where max is
// -inf or a NaN took part, exp of what is not inside may be NaN; then so is the row.
template <class T, int N, int V, class Max, class Sum>
__device__ inline void softmax_held(const Matrices<T>& m, std::int64_t row, int thread, int threads, Max all_max, Sum all_sum) {
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;
  const int packs = static_cast<int>(m.cols) / N;
  const std::int64_t tail = tail_column<N>(m.cols, thread);

  float v[V], extra = -INFINITY;
  load_batch<T, N>(v, x, packs, thread, threads);
  if (tail < m.cols) extra = to_float(ld(x + tail));

  const float max = all_max(fmaxf(max_of(v), extra));
#pragma unroll
  for (int i = 0; i < V; ++i) v[i] = exponential<T>(v[i] - max);
  extra = exponential<T>(extra - max);

  const float r = 1.0f / all_sum(sum_of(v) + extra);
#pragma unroll
  for (int i = 0; i < V; ++i) v[i] *= r;
  store_batch<T, N>(y, v, packs, thread, threads);
  if (tail < m.cols) st(y + tail, from_float<T>(extra * r));
}

}  // namespace assay::ASSAY_FLAVOUR::softmax_room
