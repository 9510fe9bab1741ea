// SPDX-License-Identifier: Apache-2.0
// FAULT: the butterflies begin at an offset of 8: each half of a warp has a maximum and a sum of its own. Right up to 16 columns.
// Caught by: T1, from 17 columns on.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, half_of_the_warp) {

inline constexpr int kThreads = 128;

KERNEL(softmax){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::rows, kThreads / kWarp), tile(Axis::cols, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}},
};

template <class T>
__global__ void half_of_the_warp(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x_stride,
                                 std::int64_t y_stride) {
  const std::int64_t row = blockIdx.x * static_cast<std::int64_t>(kThreads / kWarp) + warp_id();
  if (row >= rows) return;
  x += row * x_stride, y += row * y_stride;

  float max = -INFINITY;
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) max = fmaxf(max, to_float(ld(x + c)));
  for (int offset = kWarp / 4; offset > 0; offset /= 2) max = fmaxf(max, shuffle_xor(max, offset));

  float sum = 0;
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) sum += expf(to_float(ld(x + c)) - max);
  for (int offset = kWarp / 4; offset > 0; offset /= 2) sum += shuffle_xor(sum, offset);

  for (std::int64_t c = lane_id(); c < cols; c += kWarp) st(y + c, from_float<T>(expf(to_float(ld(x + c)) - max) / sum));
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(half_of_the_warp<T>, {.grid = dim3(ceil_div(rows, kThreads / kWarp)), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, half_of_the_warp)
