// SPDX-License-Identifier: Apache-2.0
// FAULT: the maximum is taken of the floats' bits as signed integers, which order positive numbers as they are but negative
// ones backwards.
// Kind: ranges
// Shows: max of a row without a positive element.
#include "cuda/core/fold.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, maximum_of_bits) {

inline constexpr int kWarps = 4;

struct MaxOfBits : fold::Max {
  __device__ static int bits(float v) { return __builtin_bit_cast(int, v); }
  __device__ static float larger(float a, float b) {
    if (a != a || b != b) return NAN;
    if (a == -INFINITY) return b;
    if (b == -INFINITY) return a;
    return bits(a) > bits(b) ? a : b;
  }
  template <int N>
  __device__ void add(const float (&v)[N]) {
#pragma unroll
    for (int j = 0; j < N; ++j) value = larger(value, v[j]);
  }
  __device__ void join(const MaxOfBits& other) { value = larger(value, other.value); }
  __device__ MaxOfBits of_lane(int delta) const {
    MaxOfBits m;
    m.value = shuffle_down(value, delta);
    return m;
  }
};

template <class T, class Fold>
__device__ void reduce_row(const T* x, float* y, std::int64_t cols) {
  const int lane = lane_id();
  Fold f;
  fold::take_packs<4, 1>(f, x, lane, cols, kWarp);
  f = fold::join_warp(f);
  if (lane == 0) st(y, f.result());
}

template <class T>
__global__ void row_reduce_warp(const T* x, float* y, std::int64_t rows, std::int64_t cols, std::int64_t stride, Reduction what) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (row >= rows) return;
  x += row * stride, y += row;
  if (what == Reduction::sum) reduce_row<T, fold::Sum>(x, y, cols);
  else if (what == Reduction::max) reduce_row<T, MaxOfBits>(x, y, cols);
  else if (what == Reduction::logsumexp) reduce_row<T, fold::LogSumExp>(x, y, cols);
  else reduce_row<T, fold::SumOfSquares>(x, y, cols);
}

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kWarps), tile(Axis::cols, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}, .rescales = {.lanes = kWarp, .extra = 5}},
};

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(row_reduce_warp<T>, {.grid = dim3(ceil_div(rows, kWarps)), .block = dim3(kWarps * kWarp)}, l.stream, a.x.as<T>(),
           a.y.as<float>(), rows, a.x.shape[1], a.x.stride[0], a.what);
  });
}

}  // namespace assay::ROOM(row_reduce, maximum_of_bits)
