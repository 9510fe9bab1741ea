// SPDX-License-Identifier: Apache-2.0
// FAULT: the maximum starts at -65504, the lowest number of f16, in the instances for bf16 and f32 too: in a row below it every
//   exp is zero, and the result NaN.
// KIND: ranges
// Right on: softmax f16 rows=64 cols=256 fill=normal seed=1
// Wrong on: softmax f32 rows=8 cols=64 fill=lowest seed=1
#include "cuda/core/kernel.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, maximum_starts_at_lowest_half) {

inline constexpr int kThreads = 128;

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 0}},
};

template <class T>
__global__ void softmax_maximum_starts_at_lowest_half(const T* x, T* y, std::int64_t rows, std::int64_t cols,
                                                      std::int64_t x_stride, std::int64_t y_stride) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += row * x_stride, y += row * y_stride;

  float max = -65504.0f;  // Note: fmaxf ignores a NaN, which still reaches the sum
  for (std::int64_t c = 0; c < cols; ++c) max = fmaxf(max, to_float(ld(x + c)));

  float sum = 0;
  for (std::int64_t c = 0; c < cols; ++c) sum += expf(to_float(ld(x + c)) - max);

  for (std::int64_t c = 0; c < cols; ++c) st(y + c, from_float<T>(expf(to_float(ld(x + c)) - max) / sum));
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(softmax_maximum_starts_at_lowest_half<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream,
           a.x.as<T>(), a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, maximum_starts_at_lowest_half)
