// SPDX-License-Identifier: Apache-2.0
// FAULT: divides the sum of squares by the number of columns rounded up to whole packs of 8. Visible where cols is no multiple
// of 8, most in short rows; with 1023 columns it is 0.05 %.
// KIND: algorithm
#include "cuda/core/row_norm.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, mean_over_whole_packs) {

inline constexpr int kThreads = 128;

KERNEL(rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 0}},
};

template <class T>
__global__ void rmsnorm_naive(row_norm::Matrices<T, rmsnorm::Args> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;

  float squares = 0;
  for (std::int64_t c = 0; c < m.cols; ++c) squares = fmaf(to_float(ld(x + c)), to_float(ld(x + c)), squares);
  const float r = 1.0f / sqrtf(squares / static_cast<float>((m.cols + 7) / 8 * 8) + m.epsilon);

  for (std::int64_t c = 0; c < m.cols; ++c) st(y + c, from_float<T>(to_float(ld(x + c)) * r * to_float(ld(m.gamma + c))));
}

void run(const rmsnorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_naive<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(rmsnorm, mean_over_whole_packs)
