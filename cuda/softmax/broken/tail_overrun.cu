// SPDX-License-Identifier: Apache-2.0
// FAULT: the output goes in fours, and the last four of a row are written whole: up to three elements beyond the row.
// Caught by: T4, the access outside y, or between its rows; cols no multiple of 4.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, tail_overrun) {

inline constexpr int kThreads = 128;

KERNEL(softmax){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}},
};

template <class T>
__global__ void tail_overrun(const T* x, T* y, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride) {
  const std::int64_t row = blockIdx.x;
  x += row * x_stride, y += row * y_stride;
  float* const scratch = shared_memory<float>();

  float max = -INFINITY;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) max = fmaxf(max, to_float(ld(x + c)));
  max = block_max(max, scratch);

  float sum = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) sum += expf(to_float(ld(x + c)) - max);
  sum = block_sum(sum, scratch);

  for (std::int64_t base = 4 * threadIdx.x; base < cols; base += 4 * kThreads)
    for (std::int64_t c = base; c < base + 4; ++c)
      st(y + c, from_float<T>(expf(to_float(ld(x + (c < cols ? c : 0))) - max) / sum));
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(tail_overrun<T>, {.grid = dim3(rows), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(float)}, l.stream,
           a.x.as<T>(), a.y.as<T>(), cols, a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, tail_overrun)
