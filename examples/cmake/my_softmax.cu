// SPDX-License-Identifier: Apache-2.0
// One warp per row: each lane takes every 32nd column, then the lanes add their sums.
#include "cuda/core/kernel.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, my_softmax) {

inline constexpr int kRows = 4;  // of a block, a warp each

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kRows)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 32, .extra = 5}},  // what the bound is made from
};

template <class T>
__global__ void my_softmax(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + warp_id();
  if (row >= rows) return;
  x += row * x_stride;
  y += row * y_stride;

  float max = -INFINITY, sum = 0;
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) max = fmaxf(max, to_float(ld(x + c)));
  for (int offset = 16; offset > 0; offset /= 2) max = fmaxf(max, shuffle_xor(max, offset));
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) sum += expf(to_float(ld(x + c)) - max);
  for (int offset = 16; offset > 0; offset /= 2) sum += shuffle_xor(sum, offset);
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) st(y + c, from_float<T>(expf(to_float(ld(x + c)) - max) / sum));
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(my_softmax<T>, {.grid = dim3(ceil_div(rows, kRows)), .block = dim3(kRows * kWarp)}, l.stream, a.x.as<T>(), a.y.as<T>(),
           rows, cols, a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, my_softmax)
