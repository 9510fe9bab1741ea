// SPDX-License-Identifier: Apache-2.0
// FAULT: clamps the f16 sum to the largest finite number, as T5's port to half precision does. Visible in f16 where |x +
// residual| reaches 65520: s is 65504 instead of inf, and y is finite instead of NaN and 0.
// KIND: ranges
#include "cuda/core/row_norm.cuh"
#include "ops/residual_rmsnorm.hpp"

namespace assay::ROOM(residual_rmsnorm, clamps_the_sum) {

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

  float squares = 0;
  for (std::int64_t c = 0; c < m.cols; ++c) {
    float sum = to_float(ld(x + c)) + to_float(ld(residual + c));
    if constexpr (std::is_same_v<T, half>) sum = sum > 65504.0f ? 65504.0f : sum < -65504.0f ? -65504.0f : sum;
    const T v = from_float<T>(sum);
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

}  // namespace assay::ROOM(residual_rmsnorm, clamps_the_sum)
