// SPDX-License-Identifier: Apache-2.0
// FAULT: the conversion to f16 saturates: a sum beyond the largest number becomes that number, not infinity.
// KIND: ranges
// Right on: add f16 rows=64 cols=256 fill=normal seed=1
// Wrong on: add f16 rows=16 cols=64 fill=near_max seed=1
// Wrong on: add f16 rows=16 cols=64 fill=inf_in_row seed=1
#include "cuda/core/kernel.cuh"
#include "ops/add.hpp"

namespace assay::ROOM(add, sum_saturates) {

inline constexpr int kThreads = 256;

KERNEL(add){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
__device__ inline T narrowed(float v) {
  if constexpr (std::is_same_v<T, half>) v = v > 65504.0f ? 65504.0f : v < -65504.0f ? -65504.0f : v;
  return from_float<T>(v);
}

template <class T>
__global__ void add_sum_saturates(const T* a, const T* b, T* y, std::int64_t rows, std::int64_t cols, std::int64_t a_stride,
                                  std::int64_t b_stride, std::int64_t y_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= rows * cols) return;
  const std::int64_t row = i / cols, col = i % cols;
  st(y + row * y_stride + col, narrowed<T>(to_float(ld(a + row * a_stride + col)) + to_float(ld(b + row * b_stride + col))));
}

void run(const add::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(add_sum_saturates<T>, {.grid = dim3(ceil_div(rows * cols, kThreads)), .block = dim3(kThreads)}, l.stream, a.a.as<T>(),
           a.b.as<T>(), a.y.as<T>(), rows, cols, a.a.stride[0], a.b.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(add, sum_saturates)
