// SPDX-License-Identifier: Apache-2.0
// Reductions as values with add() and join(): a sum, a sum of squares, a maximum, a maximum with the sum of exp(x - maximum).
// A warp or block joins its values always in the same order, and its first thread gets the result.
#pragma once

#include "cuda/core/exponential.cuh"
#include "cuda/core/row_pack.cuh"

namespace assay::ASSAY_FLAVOUR::fold {

// As fmaxf, but NaN if an argument is NaN.
__device__ inline float larger(float a, float b) { return a > b || a != a ? a : b; }

// Adds N elements by at most N additions, one after the other.
struct Sum {
  float value = 0;
  template <int N>
  __device__ void add(const float (&v)[N]) {
#pragma unroll
    for (int j = 0; j < N; ++j) value += v[j];
  }
  __device__ void join(const Sum& other) { value += other.value; }
  __device__ Sum of_lane(int delta) const { return {shuffle_down(value, delta)}; }
  __device__ float result() const { return value; }
};

struct SumOfSquares {
  float value = 0;
  template <int N>
  __device__ void add(const float (&v)[N]) {
#pragma unroll
    for (int j = 0; j < N; ++j) value = fmaf(v[j], v[j], value);
  }
  __device__ void join(const SumOfSquares& other) { value += other.value; }
  __device__ SumOfSquares of_lane(int delta) const { return {shuffle_down(value, delta)}; }
  __device__ float result() const { return value; }
};

struct Max {
  float value = -INFINITY;
  template <int N>
  __device__ void add(const float (&v)[N]) {
#pragma unroll
    for (int j = 0; j < N; ++j) value = larger(value, v[j]);
  }
  __device__ void join(const Max& other) { value = larger(value, other.value); }
  __device__ Max of_lane(int delta) const { return {shuffle_down(value, delta)}; }
  __device__ float result() const { return value; }
};

// add() and join() each rescale the sum once.  The maximum leaves out NaN.  The sum is NaN if an element is NaN, else inf if one
// is +inf.
struct alignas(8) LogSumExp {
  float max = -INFINITY, sum = 0;
  // exp(v - max), or exp(v) if max is infinite: inf - inf would be NaN.  Note: with expf a row in memory waits for instructions.
  __device__ static float power(float v, float max) { return exp_approx(v - (fabsf(max) == INFINITY ? 0.0f : max)); }
  template <int N>
  __device__ void add(const float (&v)[N]) {
    float all = max;
#pragma unroll
    for (int j = 0; j < N; ++j) all = fmaxf(all, v[j]);
    sum *= power(max, all);
#pragma unroll
    for (int j = 0; j < N; ++j) sum += power(v[j], all);
    max = all;
  }
  __device__ void join(const LogSumExp& other) {
    const float all = fmaxf(max, other.max);
    sum = sum * power(max, all) + other.sum * power(other.max, all);
    max = all;
  }
  __device__ LogSumExp of_lane(int delta) const { return {shuffle_down(max, delta), shuffle_down(sum, delta)}; }
  __device__ float result() const { return max + logf(sum); }
};

// Joins the values of a warp, 5 joins deep.  Only lane 0 gets the result.
template <class F>
__device__ inline F join_warp(F f) {
  for (int delta = kWarp / 2; delta > 0; delta /= 2) f.join(f.of_lane(delta));
  return f;
}

// Joins the values of a block, 10 joins deep.  Only thread 0 gets it.  `partial`: shared memory for kWarp of F, reusable at once.
template <class F>
__device__ inline F join_block(F f, F* partial) {
  const int warps = static_cast<int>(blockDim.x + kWarp - 1) / kWarp;
  f = join_warp(f);
  if (lane_id() == 0) st(partial + warp_id(), f);
  sync_block();
  f = join_warp(lane_id() < warps ? ld(partial + lane_id()) : F{});
  sync_block();
  return f;
}

// Adds the packs `first`, `first` + step, ... below `end` of a row, with kBatch of them in flight at once.
template <int kBatch, int N, class T, class F>
__device__ inline void take_packs(F& f, const T* x, std::int64_t first, std::int64_t end, int step) {
  for (; first < end; first += static_cast<std::int64_t>(kBatch) * step) {
    row_pack::Raw<T, N> raw[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k)
      if (first + k * step < end) raw[k] = ld(reinterpret_cast<const row_pack::Raw<T, N>*>(x) + first + k * step);
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (first + k * step >= end) break;
      float v[N];
      row_pack::to_floats<T, N>(v, raw[k]);
      f.add(v);
    }
  }
}

// Adds a thread's element after the last whole pack, if there is one: these elements are fewer than a warp.
template <int N, class T, class F>
__device__ inline void take_tail(F& f, const T* x, std::int64_t cols, int thread) {
  static_assert(N <= kWarp);
  if (const std::int64_t c = cols / N * N + thread; N > 1 && c < cols) {
    const float v[1] = {to_float(ld(x + c))};
    f.add(v);
  }
}

}  // namespace assay::ASSAY_FLAVOUR::fold
