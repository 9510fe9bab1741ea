// SPDX-License-Identifier: Apache-2.0
// FAULT: converts f32 to bfloat16 by adding 0x8000 to the bits and cutting them, as many hand-written converters do; a tie
// then goes away from zero instead of to even. Visible for bf16 in any exact tie: 1 + 2^-8 gives 1 + 2^-7 instead of 1.
// KIND: precision
#include "cuda/core/kernel.cuh"
#include "ops/add.hpp"

namespace assay::ROOM(add, rounds_half_up) {

inline constexpr int kThreads = 256;

KERNEL(add){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
__device__ inline T converted(float v) {
  if constexpr (std::is_same_v<T, bfloat16>) {
    if (!(fabsf(v) < INFINITY)) return from_float<T>(v);
    return __builtin_bit_cast(bfloat16, static_cast<unsigned short>((__builtin_bit_cast(unsigned, v) + 0x8000u) >> 16));
  } else {
    return from_float<T>(v);
  }
}

template <class T>
__global__ void add_half_up(const T* a, const T* b, T* y, std::int64_t rows, std::int64_t cols, std::int64_t a_stride,
                            std::int64_t b_stride, std::int64_t y_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= rows * cols) return;
  const std::int64_t row = i / cols, col = i % cols;
  st(y + row * y_stride + col, converted<T>(to_float(ld(a + row * a_stride + col)) + to_float(ld(b + row * b_stride + col))));
}

void run(const add::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(add_half_up<T>, {.grid = dim3(ceil_div(rows * cols, kThreads)), .block = dim3(kThreads)}, l.stream, a.a.as<T>(),
           a.b.as<T>(), a.y.as<T>(), rows, cols, a.a.stride[0], a.b.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(add, rounds_half_up)
