// SPDX-License-Identifier: Apache-2.0
// FAULT: computes 1/sqrt by the constant 0x5f3759df and two of Newton's steps, which leave a relative error of 5e-6, and
// declares a root and a division. Visible in f32; in 16 bits only beside a rounding.
// KIND: precision
#include "cuda/core/row_norm.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, two_newton_steps) {

inline constexpr int kThreads = 128;

KERNEL(rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 0}},
};

__device__ inline float inverse_root(float v) {
  if (!(v >= 0x1p-126f && v < INFINITY)) return 1.0f / sqrtf(v);
  float r = __builtin_bit_cast(float, 0x5f3759dfu - (__builtin_bit_cast(unsigned, v) >> 1));
  for (int step = 0; step < 2; ++step) r *= 1.5f - 0.5f * v * r * r;
  return r;
}

template <class T>
__global__ void rmsnorm_naive(row_norm::Matrices<T, rmsnorm::Args> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;

  float squares = 0;
  for (std::int64_t c = 0; c < m.cols; ++c) squares = fmaf(to_float(ld(x + c)), to_float(ld(x + c)), squares);
  const float r = inverse_root(squares / static_cast<float>(m.cols) + m.epsilon);

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

}  // namespace assay::ROOM(rmsnorm, two_newton_steps)
