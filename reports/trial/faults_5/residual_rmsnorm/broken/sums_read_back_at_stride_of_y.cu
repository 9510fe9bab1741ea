// SPDX-License-Identifier: Apache-2.0
// FAULT: the second pass reads s back at the row stride of y.
// KIND: layout
// Right on: residual_rmsnorm f16 rows=64 cols=256 fill=normal seed=1
// Wrong on: residual_rmsnorm f16 rows=8 cols=32 layout=mixed fill=normal seed=1
#include "cuda/core/row_norm.cuh"
#include "ops/residual_rmsnorm.hpp"

namespace assay::ROOM(residual_rmsnorm, sums_read_back_at_stride_of_y) {

inline constexpr int kThreads = 128;

KERNEL(residual_rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 0}},
    .supports = residual_rmsnorm::rounded_alone,
};

template <class T>
__global__ void residual_rmsnorm_sums_read_back_at_stride_of_y(row_norm::Matrices<T, residual_rmsnorm::Args> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  const T* const residual = m.residual + row * m.residual_stride;
  T* const s = m.s + row * m.s_stride;
  T* const y = m.y + row * m.y_stride;

  float squares = 0;
  for (std::int64_t c = 0; c < m.cols; ++c) {
    const T v = from_float<T>(to_float(ld(x + c)) + to_float(ld(residual + c)));
    st(s + c, v);
    squares = fmaf(to_float(v), to_float(v), squares);
  }
  const float r = 1.0f / sqrtf(squares / static_cast<float>(m.cols) + m.epsilon);

  const T* const again = m.s + row * m.y_stride;
  for (std::int64_t c = 0; c < m.cols; ++c) st(y + c, from_float<T>(to_float(ld(again + c)) * r * to_float(ld(m.gamma + c))));
}

void run(const residual_rmsnorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(residual_rmsnorm_sums_read_back_at_stride_of_y<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)},
           l.stream, row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(residual_rmsnorm, sums_read_back_at_stride_of_y)
