// SPDX-License-Identifier: Apache-2.0
// FAULT (layout): contiguous tensors are one long row, whose elements after the last pack of 8 are counted by the columns.
// Right on: add f16 rows=64 cols=256 fill=normal seed=2
#include "cuda/core/kernel.cuh"
#include "ops/add.hpp"

namespace assay::ROOM(add, tail_of_flat_view) {

inline constexpr int kThreads = 256;

KERNEL(add){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
__global__ void add_tail_of_flat_view(const T* a, const T* b, T* y, std::int64_t rows, std::int64_t cols, std::int64_t a_stride,
                                      std::int64_t b_stride, std::int64_t y_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= rows * cols) return;
  const std::int64_t row = i / cols, col = i % cols;
  st(y + row * y_stride + col, from_float<T>(to_float(ld(a + row * a_stride + col)) + to_float(ld(b + row * b_stride + col))));
}

template <class T>
__global__ void add_flat(const T* a, const T* b, T* y, std::int64_t packed, std::int64_t left) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t end = packed + left;  // by pack, then the elements that are left
  if (i < end) st(y + i, from_float<T>(to_float(ld(a + i)) + to_float(ld(b + i))));
}

void run(const add::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    if (a.a.contiguous() && a.b.contiguous() && a.y.contiguous()) {
      const std::int64_t packed = rows * cols / 8 * 8, left = std::min(cols % 8, rows * cols - packed);
      return launch(add_flat<T>, {.grid = dim3(ceil_div(packed + 8, kThreads)), .block = dim3(kThreads)}, l.stream, a.a.as<T>(),
                    a.b.as<T>(), a.y.as<T>(), packed, left);
    }
    launch(add_tail_of_flat_view<T>, {.grid = dim3(ceil_div(rows * cols, kThreads)), .block = dim3(kThreads)}, l.stream,
           a.a.as<T>(), a.b.as<T>(), a.y.as<T>(), rows, cols, a.a.stride[0], a.b.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(add, tail_of_flat_view)
