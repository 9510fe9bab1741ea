// SPDX-License-Identifier: Apache-2.0
// FAULT: adds the two halves of each 32-bit word in the storage dtype, by one packed addition, before it goes on in f32.
// Visible with what=sum in f16 and bf16 and aligned rows.
// KIND: precision
#include "cuda/core/device.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, adds_pairs_in_dtype) {

namespace fold {

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

// add() and join() each rescale the sum once.  The sum is NaN if an element is NaN or +inf.
struct alignas(8) LogSumExp {
  float max = -INFINITY, sum = 0;
  // The value that is subtracted before exp.  Note: if all are -inf it is 0: -inf - (-inf) would be NaN, and exp(-inf - 0) is 0.
  __device__ static float anchor(float max) { return max == -INFINITY ? 0.0f : max; }
  template <int N>
  __device__ void add(const float (&v)[N]) {
    float all = max;
#pragma unroll
    for (int j = 0; j < N; ++j) all = larger(all, v[j]);
    const float at = anchor(all);
    sum *= expf(max - at);
#pragma unroll
    for (int j = 0; j < N; ++j) sum += expf(v[j] - at);
    max = all;
  }
  __device__ void join(const LogSumExp& other) {
    const float all = larger(max, other.max), at = anchor(all);
    sum = sum * expf(max - at) + other.sum * expf(other.max - at);
    max = all;
  }
  __device__ LogSumExp of_lane(int delta) const { return {shuffle_down(max, delta), shuffle_down(sum, delta)}; }
  // If the maximum is NaN or infinite, so is the result.
  __device__ float result() const { return fabsf(max) < INFINITY ? max + logf(sum) : max; }
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
    Vec<T, N> raw[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k)
      if (first + k * step < end) raw[k] = ld(reinterpret_cast<const Vec<T, N>*>(x) + first + k * step);
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (first + k * step >= end) break;
      float v[N];
#pragma unroll
      for (int j = 0; j < N; ++j) v[j] = to_float(raw[k][j]);
      if constexpr (N > 1 && sizeof(T) == 2 && std::is_same_v<F, Sum>) {
#pragma unroll
        for (int j = 0; j < N; j += 2) v[j] = to_float(from_float<T>(v[j] + v[j + 1])), v[j + 1] = 0;
      }
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

}  // namespace fold

// Checks that a lane's serial f32 sum is not too long: 2^22 roundings of 2^-24 are a relative error of a quarter.
inline Legality short_shares(const row_reduce::Args& a, int lanes) {
  if (a.x.shape[1] <= std::int64_t{lanes} << 22) return Legality::yes();
  return Legality::no("a lane's share exceeds 2^22 columns: its serial f32 sum has few digits left");
}

// Calls f(Type<Fold>{}) for the requested reduction.
template <class F>
void with_fold(Reduction what, F&& f) {
  switch (what) {
    case Reduction::sum: return f(Type<fold::Sum>{});
    case Reduction::max: return f(Type<fold::Max>{});
    case Reduction::logsumexp: return f(Type<fold::LogSumExp>{});
    case Reduction::sum_of_squares: return f(Type<fold::SumOfSquares>{});
  }
}

// Calls f(Type<T>{}, Type<Fold>{}, N): N elements are 16 bytes if every row is so aligned, else N is 1.
template <class F>
void with_all(const row_reduce::Args& a, F&& f) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    with_fold(a.what, [&]<class Fold>(Type<Fold>) {
      if (a.x.rows_aligned(16)) f(Type<T>{}, Type<Fold>{}, std::integral_constant<int, 16 / sizeof(T)>{});
      else f(Type<T>{}, Type<Fold>{}, std::integral_constant<int, 1>{});
    });
  });
}

using namespace row_reduce_room;

inline constexpr int kRows = 4;  // warps per block

Legality supports(const row_reduce::Args& a) { return short_shares(a, kWarp); }

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kRows), tile_bytes(Axis::cols, 16 * kWarp)},
    // A lane adds at most a pack of 8 more than its share, and one of the tail; 5 joins.
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 14}, .rescales = {.lanes = kWarp, .extra = 14}},
    .supports = supports,
};

template <class T, class Fold, int N>
__global__ void __launch_bounds__(kRows* kWarp)
    row_reduce_warp_row(const T* x, float* y, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + warp_id();
  if (row >= rows) return;
  x += row * stride;
  Fold f;
  fold::take_packs<4, N>(f, x, lane_id(), cols / N, kWarp);
  fold::take_tail<N>(f, x, cols, lane_id());
  f = fold::join_warp(f);
  if (lane_id() == 0) st(y + row, f.result());
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_all(a, [&]<class T, class Fold, int N>(Type<T>, Type<Fold>, std::integral_constant<int, N>) {
    launch(row_reduce_warp_row<T, Fold, N>, {.grid = dim3(ceil_div(rows, kRows)), .block = dim3(kRows * kWarp)}, l.stream,
           a.x.as<T>(), a.y.as<float>(), rows, a.x.shape[1], a.x.stride[0]);
  });
}

}  // namespace assay::ROOM(row_reduce, adds_pairs_in_dtype)
