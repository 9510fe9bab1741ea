// SPDX-License-Identifier: Apache-2.0
// One thread per row, two serial passes, for any layout: the first computes s, the other reads it back (sum=f32: adds again).
// Lanes of a warp read elements one row apart, so each access loads a 32-byte sector for one element.
#include "cuda/core/row_norm.cuh"
#include "ops/residual_rmsnorm.hpp"

namespace assay::ROOM(residual_rmsnorm, naive) {

inline constexpr int kThreads = 128;

KERNEL(residual_rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 0}},
};

template <class T, bool kUnrounded>
__global__ void residual_rmsnorm_naive(row_norm::Matrices<T, residual_rmsnorm::Args> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  const T* const residual = m.residual + row * m.residual_stride;
  T* const s = m.s + row * m.s_stride;
  T* const y = m.y + row * m.y_stride;

  float squares = 0;
  for (std::int64_t c = 0; c < m.cols; ++c) {
    const float sum = to_float(ld(x + c)) + to_float(ld(residual + c));
    const T rounded = from_float<T>(sum);
    st(s + c, rounded);
    const float v = kUnrounded ? sum : to_float(rounded);
    squares = fmaf(v, v, squares);
  }
  const float r = 1.0f / sqrtf(squares / static_cast<float>(m.cols) + m.epsilon);

  for (std::int64_t c = 0; c < m.cols; ++c) {
    const float v = kUnrounded ? to_float(ld(x + c)) + to_float(ld(residual + c)) : to_float(ld(s + c));
    st(y + c, from_float<T>(v * r * to_float(ld(m.gamma + c))));
  }
}

void run(const residual_rmsnorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(a.sum == NormedSum::in_f32 ? residual_rmsnorm_naive<T, true> : residual_rmsnorm_naive<T, false>,
           {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream, row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(residual_rmsnorm, naive)
