// SPDX-License-Identifier: Apache-2.0
// FAULT: sums below the normal range of the dtype become zero, as with a fast-math flag. Right for all others.
// Caught by: the bound on fill subnormals.
#include "cuda/core/kernel.cuh"
#include "ops/add.hpp"

namespace assay::ROOM(add, subnormals_flushed) {

inline constexpr int kThreads = 256;

KERNEL(add){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
__global__ void subnormals_flushed(const T* a, const T* b, T* y, std::int64_t rows, std::int64_t cols,
                     std::int64_t a_stride, std::int64_t b_stride, std::int64_t y_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= rows * cols) return;
  const std::int64_t row = i / cols, col = i % cols;
  const float sum = to_float(ld(a + row * a_stride + col)) + to_float(ld(b + row * b_stride + col));
  constexpr float kLeastNormal = std::is_same_v<T, half> ? 6.103515625e-05f : 1.1754943508222875e-38f;
  st(y + row * y_stride + col, from_float<T>(fabsf(sum) < kLeastNormal ? 0.0f : sum));
}

void run(const add::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(subnormals_flushed<T>, {.grid = dim3(ceil_div(rows * cols, kThreads)), .block = dim3(kThreads)}, l.stream,
           a.a.as<T>(), a.b.as<T>(), a.y.as<T>(), rows, cols, a.a.stride[0], a.b.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(add, subnormals_flushed)
