// SPDX-License-Identifier: Apache-2.0
// A thread an element, SiLU as z/2 (1 + tanh(z/2)), as declared.  Any layout.
#include "cuda/core/kernel.cuh"
#include "ops/silu_mul.hpp"

namespace assay::ROOM(silu_mul, sigmoid_by_tanh) {

inline constexpr int kThreads = 256;

KERNEL(silu_mul){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .tanh_sigmoid = true},
};

template <class T>
__global__ void silu_mul_by_tanh(const T* gate, const T* up, T* y, std::int64_t rows, std::int64_t cols, std::int64_t gate_stride,
                                 std::int64_t up_stride, std::int64_t y_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= rows * cols) return;
  const std::int64_t row = i / cols, col = i % cols;
  const float g = to_float(ld(gate + row * gate_stride + col)), u = to_float(ld(up + row * up_stride + col));
  st(y + row * y_stride + col, from_float<T>(0.5f * g * (1.0f + tanhf(0.5f * g)) * u));
}

void run(const silu_mul::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(silu_mul_by_tanh<T>, {.grid = dim3(ceil_div(rows * cols, kThreads)), .block = dim3(kThreads)}, l.stream,
           a.gate.as<T>(), a.up.as<T>(), a.y.as<T>(), rows, cols, a.gate.stride[0], a.up.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(silu_mul, sigmoid_by_tanh)
