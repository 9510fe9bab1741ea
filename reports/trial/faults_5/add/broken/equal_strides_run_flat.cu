// SPDX-License-Identifier: Apache-2.0
// FAULT: matrices whose rows are equally far apart are taken as one run from the first element to the last, so the sums of what
//   lies between the rows are written between the rows of y.
// KIND: layout
// Right on: add f16 rows=64 cols=256 fill=normal seed=1
// Wrong on: add f16 rows=16 cols=40 layout=padded16 fill=normal seed=1
#include "cuda/core/kernel.cuh"
#include "ops/add.hpp"

namespace assay::ROOM(add, equal_strides_run_flat) {

inline constexpr int kThreads = 256;

KERNEL(add){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
__global__ void __launch_bounds__(kThreads) add_rows(const T* a, const T* b, T* y, std::int64_t rows, std::int64_t cols,
                                                     std::int64_t a_stride, std::int64_t b_stride, std::int64_t y_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= rows * cols) return;
  const std::int64_t row = i / cols, col = i - row * cols;
  st(y + row * y_stride + col, from_float<T>(to_float(ld(a + row * a_stride + col)) + to_float(ld(b + row * b_stride + col))));
}

void run(const add::Args& a, const Launch& l) {
  std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  // One long row needs no division in the kernel.
  if (a.a.stride[0] == a.b.stride[0] && a.b.stride[0] == a.y.stride[0]) cols += (rows - 1) * a.y.stride[0], rows = 1;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(add_rows<T>, {.grid = dim3(ceil_div(rows * cols, kThreads)), .block = dim3(kThreads)}, l.stream, a.a.as<T>(),
           a.b.as<T>(), a.y.as<T>(), rows, cols, a.a.stride[0], a.b.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(add, equal_strides_run_flat)
