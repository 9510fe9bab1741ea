// SPDX-License-Identifier: Apache-2.0
// FAULT: maximum and sum in one pass, but the sum of what was seen is not rescaled when the maximum rises. Right where the
// first column is the largest.
// Caught by: the bound on rising, and on any random row.
#include "cuda/core/kernel.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, online_not_rescaled) {

inline constexpr int kThreads = 128;

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void online_not_rescaled(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x_stride,
                                    std::int64_t y_stride) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= rows) return;
  x += row * x_stride, y += row * y_stride;

  float max = -INFINITY, sum = 0;
  for (std::int64_t c = 0; c < cols; ++c) {
    const float v = to_float(ld(x + c));
    max = fmaxf(max, v);
    sum += expf(v - max);
  }

  for (std::int64_t c = 0; c < cols; ++c) st(y + c, from_float<T>(expf(to_float(ld(x + c)) - max) / sum));
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(online_not_rescaled<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, online_not_rescaled)
