// SPDX-License-Identifier: Apache-2.0
// FAULT: a thread takes two elements, and the number of threads is rounded down, so the last element of an odd number is never
//   written.
// KIND: algorithm
// Right on: silu_mul f16 rows=64 cols=256 fill=normal seed=1
// Wrong on: silu_mul f16 rows=3 cols=5 fill=normal seed=1
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/silu_mul.hpp"

namespace assay::ROOM(silu_mul, last_of_an_odd_number_left) {

inline constexpr int kThreads = 256;

KERNEL(silu_mul){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
__global__ void silu_mul_naive(const T* gate, const T* up, T* y, std::int64_t rows, std::int64_t cols, std::int64_t gate_stride,
                               std::int64_t up_stride, std::int64_t y_stride) {
  const std::int64_t pair = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (pair >= rows * cols / 2) return;
#pragma unroll
  for (std::int64_t i = 2 * pair; i < 2 * pair + 2; ++i) {
    const std::int64_t row = i / cols, col = i % cols;
    const float g = to_float(ld(gate + row * gate_stride + col)), u = to_float(ld(up + row * up_stride + col));
    st(y + row * y_stride + col, from_float<T>(silu(g) * u));
  }
}

void run(const silu_mul::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(silu_mul_naive<T>, {.grid = dim3(ceil_div(ceil_div(rows * cols, 2), kThreads)), .block = dim3(kThreads)}, l.stream,
           a.gate.as<T>(), a.up.as<T>(), a.y.as<T>(), rows, cols, a.gate.stride[0], a.up.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(silu_mul, last_of_an_odd_number_left)
