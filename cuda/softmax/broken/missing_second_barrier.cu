// SPDX-License-Identifier: Apache-2.0
// FAULT: maximum and sum use the same shared memory, and no barrier keeps the sum from overwriting a maximum that is still to
// be read.
// Caught by: T1 in an order that lets a thread run ahead; the watch as a race. More than one column.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, missing_second_barrier) {

inline constexpr int kThreads = 128;

KERNEL(softmax){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}},
};

template <class F>
__device__ inline float tree(float v, float* scratch, F f) {
  const int thread = static_cast<int>(threadIdx.x);
  st(scratch + thread, v);
  sync_block();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (thread < half) st(scratch + thread, f(ld(scratch + thread), ld(scratch + thread + half)));
    sync_block();
  }
  return ld(scratch);
}

template <class T>
__global__ void missing_second_barrier(const T* x, T* y, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride) {
  const std::int64_t row = blockIdx.x;
  x += row * x_stride, y += row * y_stride;
  float* const scratch = shared_memory<float>();

  float max = -INFINITY;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) max = fmaxf(max, to_float(ld(x + c)));
  max = tree(max, scratch, [](float a, float b) { return fmaxf(a, b); });

  float sum = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) sum += expf(to_float(ld(x + c)) - max);
  sum = tree(sum, scratch, [](float a, float b) { return a + b; });

  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) st(y + c, from_float<T>(expf(to_float(ld(x + c)) - max) / sum));
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(missing_second_barrier<T>, {.grid = dim3(rows), .block = dim3(kThreads), .shared_bytes = kThreads * sizeof(float)},
           l.stream, a.x.as<T>(), a.y.as<T>(), cols, a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, missing_second_barrier)
