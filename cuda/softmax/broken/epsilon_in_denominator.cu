// SPDX-License-Identifier: Apache-2.0
// FAULT: 1e-6 is added to the sum, against a division by zero that cannot happen: the sum is at least 1.
// Caught by: the exact probe probe_hot in f32, where y is a power of two; a bound on a sum of many terms does not see it.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, epsilon_in_denominator) {

inline constexpr int kThreads = 128;

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}},
};

template <class T>
__global__ void epsilon_in_denominator(const T* x, T* y, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride) {
  const std::int64_t row = blockIdx.x;
  x += row * x_stride, y += row * y_stride;
  float* const scratch = shared_memory<float>();

  float max = -INFINITY;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) max = fmaxf(max, to_float(ld(x + c)));
  max = block_max(max, scratch);

  float sum = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) sum += expf(to_float(ld(x + c)) - max);
  sum = block_sum(sum, scratch);

  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads)
    st(y + c, from_float<T>(expf(to_float(ld(x + c)) - max) / (sum + 1e-6f)));
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(epsilon_in_denominator<T>, {.grid = dim3(rows), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(float)},
           l.stream, a.x.as<T>(), a.y.as<T>(), cols, a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, epsilon_in_denominator)
