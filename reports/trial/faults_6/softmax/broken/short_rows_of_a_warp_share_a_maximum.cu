// SPDX-License-Identifier: Apache-2.0
// FAULT (ranges): up to 16 columns a warp takes two rows, and both subtract the larger of their maxima.
// Right on: softmax f16 rows=32 cols=16 fill=normal seed=2
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, short_rows_of_a_warp_share_a_maximum) {

inline constexpr int kThreads = 128;

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 4}},
};

// Two rows of at most 16 columns a warp.
template <class T>
__global__ void softmax_two_rows(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x_stride,
                                 std::int64_t y_stride) {
  const std::int64_t row = (static_cast<std::int64_t>(blockIdx.x) * (kThreads / kWarp) + warp_id()) * 2 + lane_id() / 16;
  const int col = lane_id() % 16;
  const bool inside = row < rows && col < cols;
  const float v = inside ? to_float(ld(x + row * x_stride + col)) : -INFINITY;
  const float max = warp_max(v), e = inside ? expf(v - max) : 0.0f;
  float sum = e;
  for (int n = 8; n > 0; n /= 2) sum += shuffle_xor(sum, n);
  if (inside) st(y + row * y_stride + col, from_float<T>(e / sum));
}

template <class T>
__global__ void softmax_row_a_thread(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x_stride,
                                     std::int64_t y_stride) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= rows) return;
  x += row * x_stride, y += row * y_stride;
  float max = -INFINITY, sum = 0;
  for (std::int64_t c = 0; c < cols; ++c) max = fmaxf(max, to_float(ld(x + c)));
  for (std::int64_t c = 0; c < cols; ++c) sum += expf(to_float(ld(x + c)) - max);
  for (std::int64_t c = 0; c < cols; ++c) st(y + c, from_float<T>(expf(to_float(ld(x + c)) - max) / sum));
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(cols <= 16 ? softmax_two_rows<T> : softmax_row_a_thread<T>,
           {.grid = dim3(ceil_div(rows, cols <= 16 ? kThreads / 16 : kThreads)), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, short_rows_of_a_warp_share_a_maximum)
