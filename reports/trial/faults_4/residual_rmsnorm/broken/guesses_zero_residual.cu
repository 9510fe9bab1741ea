// SPDX-License-Identifier: Apache-2.0
// FAULT: takes residual for all zeros in a row whose first 4 elements of it are zero, as in the first layer, and does not read
// the rest. Visible for a row of residual that starts with 4 zeros.
// KIND: cheats
#include "cuda/core/row_norm.cuh"
#include "ops/residual_rmsnorm.hpp"

namespace assay::ROOM(residual_rmsnorm, guesses_zero_residual) {

inline constexpr int kThreads = 128;

KERNEL(residual_rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 0}},
    .supports = residual_rmsnorm::rounded_alone,
};

template <class T>
__global__ void residual_rmsnorm_naive(row_norm::Matrices<T, residual_rmsnorm::Args> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  const T* const residual = m.residual + row * m.residual_stride;
  T* const s = m.s + row * m.s_stride;
  T* const y = m.y + row * m.y_stride;

  bool zeros = m.cols >= 4;
  for (int c = 0; c < 4 && zeros; ++c) zeros = to_float(ld(residual + c)) == 0.0f;

  float squares = 0;
  for (std::int64_t c = 0; c < m.cols; ++c) {
    const T v = from_float<T>(to_float(ld(x + c)) + (zeros ? 0.0f : to_float(ld(residual + c))));
    st(s + c, v);
    squares = fmaf(to_float(v), to_float(v), squares);
  }
  const float r = 1.0f / sqrtf(squares / static_cast<float>(m.cols) + m.epsilon);

  for (std::int64_t c = 0; c < m.cols; ++c) st(y + c, from_float<T>(to_float(ld(s + c)) * r * to_float(ld(m.gamma + c))));
}

void run(const residual_rmsnorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(residual_rmsnorm_naive<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(residual_rmsnorm, guesses_zero_residual)
