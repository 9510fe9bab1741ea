// SPDX-License-Identifier: Apache-2.0
// One thread per element, for any layout.
#include "cuda/core/kernel.cuh"
#include "ops/difference.hpp"

namespace assay::ROOM(difference, naive) {

inline constexpr int kThreads = 128;

KERNEL(difference){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
__global__ void difference_naive(const T* a, const T* b, T* y, std::int64_t cols, std::int64_t a_stride, std::int64_t b_stride,
                                 std::int64_t y_stride) {
  const std::int64_t row = blockIdx.x, col = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  if (col >= cols) return;
  const float result = to_float(ld(a + row * a_stride + col)) - to_float(ld(b + row * b_stride + col));
  st(y + row * y_stride + col, from_float<T>(result));
}

void run(const difference::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(difference_naive<T>, {.grid = dim3(rows, ceil_div(cols, kThreads)), .block = dim3(kThreads)}, l.stream, a.a.as<T>(),
           a.b.as<T>(), a.y.as<T>(), cols, a.a.stride[0], a.b.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(difference, naive)
