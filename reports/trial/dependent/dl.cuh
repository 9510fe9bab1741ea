// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/row_reduce.hpp"
namespace assay::ASSAY_FLAVOUR::dl {
using i64 = std::int64_t;
inline constexpr int kRows = 4, kThreads = 128;
__device__ inline float sticky(float m, float v) { return v > m || v != v ? v : m; }
__device__ inline float sticky_warp(float v) { return butterfly(v, [](float a, float b) { return sticky(a, b); }); }
__device__ inline i64 my_row() { return static_cast<i64>(blockIdx.x) * kRows + warp_id(); }
inline dim3 row_grid(i64 rows) { return dim3(static_cast<unsigned>(ceil_div(rows, kRows))); }
inline dim3 flat_grid(i64 n) { return dim3(static_cast<unsigned>(ceil_div(n, kThreads))); }
__device__ inline i64 flat() { return static_cast<i64>(blockIdx.x) * kThreads + threadIdx.x; }
enum When { never, top, end };

// softmax, launch 1: ws[2r] = max, ws[2r + 1] = sum
template <class T, When W>
__global__ void softmax_stats(const T* x, float* ws, i64 rows, i64 cols, i64 xs) {
  if constexpr (W == top) next_grid_may_start();
  const i64 row = my_row();
  if (row < rows) {
    float m = -INFINITY, s = 0;
    for (i64 c = lane_id(); c < cols; c += kWarp) m = fmaxf(m, to_float(ld(x + row * xs + c)));
    m = warp_max(m);
    for (i64 c = lane_id(); c < cols; c += kWarp) s += expf(to_float(ld(x + row * xs + c)) - m);
    s = warp_sum(s);
    if (lane_id() == 0) st(ws + 2 * row, m), st(ws + 2 * row + 1, s);
  }
  if constexpr (W == end) next_grid_may_start();
}
inline std::size_t two_a_row(i64 rows) { return static_cast<std::size_t>(8 * std::max<i64>(rows, 1)); }

// rmsnorm, launch 1: ws[r * pitch] = 1 / root
template <class T, When W>
__global__ void inverse_roots(const T* x, float* ws, i64 rows, i64 cols, i64 xs, float epsilon) {
  if constexpr (W == top) next_grid_may_start();
  const i64 row = my_row();
  if (row < rows) {
    float s = 0;
    for (i64 c = lane_id(); c < cols; c += kWarp) { const float v = to_float(ld(x + row * xs + c)); s = fmaf(v, v, s); }
    s = warp_sum(s);
    if (lane_id() == 0) st(ws + row, sqrtf(s / static_cast<float>(cols) + epsilon));
  }
  if constexpr (W == end) next_grid_may_start();
}

// layernorm, launch 1: ws[r] = mean
template <class T, When W>
__global__ void means(const T* x, float* ws, i64 rows, i64 cols, i64 xs) {
  if constexpr (W == top) next_grid_may_start();
  const i64 row = my_row();
  if (row < rows) {
    float s = 0;
    for (i64 c = lane_id(); c < cols; c += kWarp) s += to_float(ld(x + row * xs + c));
    s = warp_sum(s);
    if (lane_id() == 0) st(ws + row, s / static_cast<float>(cols));
  }
  if constexpr (W == end) next_grid_may_start();
}
template <class T>
__device__ float root_of(const T* x, i64 cols, float mean, float epsilon) {  // x: of the row
  float s = 0;
  for (i64 c = lane_id(); c < cols; c += kWarp) { const float d = to_float(ld(x + c)) - mean; s = fmaf(d, d, s); }
  return sqrtf(warp_sum(s) / static_cast<float>(cols) + epsilon);
}

// linear, launch 1: ws[split][t][o]
inline constexpr int kSplits = 4;
template <class T, When W>
__global__ void partial_products(const T* x, const T* w, float* ws, i64 tokens, i64 hidden, i64 out, i64 xs, i64 ws_) {
  if constexpr (W == top) next_grid_may_start();
  const i64 i = flat(), chunk = (hidden + kSplits - 1) / kSplits;
  if (i < tokens * out * kSplits) {
    const i64 split = i / (tokens * out), t = i % (tokens * out) / out, o = i % out;
    float s = 0;
    for (i64 h = split * chunk; h < std::min<i64>(hidden, (split + 1) * chunk); ++h)
      s = fmaf(to_float(ld(x + t * xs + h)), to_float(ld(w + o * ws_ + h)), s);
    st(ws + i, s);
  }
  if constexpr (W == end) next_grid_may_start();
}

// row_reduce: sum, max, sum of squares
template <class T> __device__ float term(T v, int what) { const float f = to_float(v); return what == 2 ? f * f : f; }
__device__ inline float join(float a, float b, int what) { return what == 1 ? sticky(a, b) : a + b; }
__device__ inline float neutral(int what) { return what == 1 ? -INFINITY : 0.0f; }
inline int what_of(Reduction r) { return r == Reduction::sum ? 0 : r == Reduction::max ? 1 : 2; }
inline constexpr i64 kChunk = 32;
// launch 1: ws[row][chunk], a thread each
template <class T, When W>
__global__ void chunk_sums(const T* x, float* ws, i64 rows, i64 cols, i64 chunks, i64 xs, int what) {
  if constexpr (W == top) next_grid_may_start();
  const i64 i = flat();
  if (i < rows * chunks) {
    const i64 row = i / chunks, first = i % chunks * kChunk;
    float s = neutral(what);
    for (i64 c = first; c < std::min<i64>(cols, first + kChunk); ++c) s = join(s, term(ld(x + row * xs + c), what), what);
    st(ws + i, s);
  }
  if constexpr (W == end) next_grid_may_start();
}
}  // namespace assay::ASSAY_FLAVOUR::dl
