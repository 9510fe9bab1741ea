// SPDX-License-Identifier: Apache-2.0
// FAULT (state): whether all is one long row is found out once for each pair of extents, so a call with the same extents and
// other strides is taken for it.
// Right on: add f16 rows=64 cols=256 fill=normal seed=2
#include "cuda/core/kernel.cuh"
#include "ops/add.hpp"

namespace assay::ROOM(add, density_kept_per_shape) {

inline constexpr int kThreads = 256;

KERNEL(add){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
__global__ void add_density_kept_per_shape(const T* a, const T* b, T* y, std::int64_t rows, std::int64_t cols,
                                           std::int64_t a_stride, std::int64_t b_stride, std::int64_t y_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= rows * cols) return;
  const std::int64_t row = i / cols, col = i % cols;
  st(y + row * y_stride + col, from_float<T>(to_float(ld(a + row * a_stride + col)) + to_float(ld(b + row * b_stride + col))));
}

void run(const add::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  static std::int64_t known_rows = -1, known_cols = -1;
  static bool dense = false;
  if (known_rows != rows || known_cols != cols)
    known_rows = rows, known_cols = cols, dense = a.a.contiguous() && a.b.contiguous() && a.y.contiguous();
  const auto stride = [&](const Tensor& t) { return dense ? cols : t.stride[0]; };
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(add_density_kept_per_shape<T>, {.grid = dim3(ceil_div(rows * cols, kThreads)), .block = dim3(kThreads)}, l.stream,
           a.a.as<T>(), a.b.as<T>(), a.y.as<T>(), rows, cols, stride(a.a), stride(a.b), stride(a.y));
  });
}

}  // namespace assay::ROOM(add, density_kept_per_shape)
