// SPDX-License-Identifier: Apache-2.0
// One thread per element.
#include "cuda/core/kernel.cuh"
#include "scale_cols.hpp"

namespace assay::ROOM(scale_cols, naive) {

inline constexpr int kThreads = 128;

KERNEL(scale_cols){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
__global__ void scale_cols_naive(const T* x, const T* scale, T* y, std::int64_t cols, std::int64_t x_stride,
                                 std::int64_t y_stride) {
  const std::int64_t row = blockIdx.x, col = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  if (col >= cols) return;
  st(y + row * y_stride + col, from_float<T>(to_float(ld(x + row * x_stride + col)) * to_float(ld(scale + col))));
}

void run(const scale_cols::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(scale_cols_naive<T>, {.grid = dim3(rows, ceil_div(cols, kThreads)), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           a.scale.as<T>(), a.y.as<T>(), cols, a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(scale_cols, naive)
