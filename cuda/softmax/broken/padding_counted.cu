// SPDX-License-Identifier: Apache-2.0
// FAULT: the row is padded with zeros up to a multiple of the block, and the padding is part of maximum and sum. Right where
// cols is such a multiple.
// Caught by: the bound on all_far_below_zero and probe_hot, and on any row with few columns.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, padding_counted) {

inline constexpr int kThreads = 128;

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}},
};

template <class T>
__global__ void padding_counted(const T* x, T* y, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride) {
  const std::int64_t row = blockIdx.x;
  x += row * x_stride, y += row * y_stride;
  float* const scratch = shared_memory<float>();

  const auto at = [&](std::int64_t c) { return c < cols ? to_float(ld(x + c)) : 0.0f; };
  const std::int64_t padded = ceil_div(cols, kThreads) * kThreads;

  float max = -INFINITY;
  for (std::int64_t c = threadIdx.x; c < padded; c += kThreads) max = fmaxf(max, at(c));
  max = block_max(max, scratch);

  float sum = 0;
  for (std::int64_t c = threadIdx.x; c < padded; c += kThreads) sum += expf(at(c) - max);
  sum = block_sum(sum, scratch);

  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) st(y + c, from_float<T>(expf(at(c) - max) / sum));
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(padding_counted<T>, {.grid = dim3(rows), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(float)}, l.stream,
           a.x.as<T>(), a.y.as<T>(), cols, a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, padding_counted)
