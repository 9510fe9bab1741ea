// SPDX-License-Identifier: Apache-2.0
// A column a thread, which goes down a stretch of 16 rows, the next row's elements loaded before this row's are stored.
#include "cuda/core/kernel.cuh"
#include "ops/add.hpp"

namespace assay::ROOM(add, columns_downwards) {

inline constexpr int kThreads = 96;
inline constexpr std::int64_t kStretch = 16;

KERNEL(add){.dtypes = {f16, bf16, f32},
            .tiles = {tile(Axis::rows, kStretch), tile(Axis::cols, kThreads)},
            .numerics = {.accumulate = f32}};

template <class T>
__global__ void add_columns_downwards(const T* a, const T* b, T* y, std::int64_t rows, std::int64_t cols, std::int64_t across,
                                      std::int64_t a_stride, std::int64_t b_stride, std::int64_t y_stride) {
  const std::int64_t col = static_cast<std::int64_t>(blockIdx.x) % across * kThreads + threadIdx.x;
  if (col >= cols) return;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) / across * kStretch;
  const std::int64_t end = first + kStretch < rows ? first + kStretch : rows;
  T next_a = ld(a + first * a_stride + col), next_b = ld(b + first * b_stride + col);
  for (std::int64_t row = first; row < end; ++row) {
    const float left = to_float(next_a), right = to_float(next_b);
    if (row + 1 < end) next_a = ld(a + (row + 1) * a_stride + col), next_b = ld(b + (row + 1) * b_stride + col);
    st(y + row * y_stride + col, from_float<T>(right + left));
  }
}

void run(const add::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1], across = ceil_div(cols, kThreads);
  if (rows * cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(add_columns_downwards<T>, {.grid = dim3(across * ceil_div(rows, kStretch)), .block = dim3(kThreads)}, l.stream,
           a.a.as<T>(), a.b.as<T>(), a.y.as<T>(), rows, cols, across, a.a.stride[0], a.b.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(add, columns_downwards)
