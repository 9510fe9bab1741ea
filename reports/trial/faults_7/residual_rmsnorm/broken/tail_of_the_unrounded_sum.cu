// SPDX-License-Identifier: Apache-2.0
// FAULT: The columns after the last whole pack are normalised from the sum in f32 and not from s as it was rounded. It shows in
// f16 and bf16 with aligned rows whose columns packs do not divide.
// Kind: precision
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/residual_rmsnorm.hpp"

namespace assay::ROOM(residual_rmsnorm, tail_of_the_unrounded_sum) {

KERNEL(residual_rmsnorm){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .supports = residual_rmsnorm::rounded_alone,
};

template <class T>
__global__ void residual_rms(const T* x, const T* residual, const T* gamma, T* y, T* s, std::int64_t cols, std::int64_t x_stride, std::int64_t residual_stride,
                             std::int64_t y_stride, std::int64_t s_stride, float epsilon, bool wide) {
  constexpr int N = 16 / sizeof(T);
  const std::int64_t row = blockIdx.x;
  x += row * x_stride, residual += row * residual_stride, y += row * y_stride, s += row * s_stride;
  const std::int64_t whole = wide ? cols / N * N : cols;
  float squares = 0;
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) {
    const T v = from_float<T>(to_float(ld(x + c)) + to_float(ld(residual + c)));
    st(s + c, v);
    squares = fmaf(to_float(v), to_float(v), squares);
  }
  const float r = 1.0f / sqrtf(warp_sum(squares) / static_cast<float>(cols) + epsilon);
  for (std::int64_t c = lane_id(); c < whole; c += kWarp) st(y + c, from_float<T>(to_float(ld(s + c)) * r * to_float(ld(gamma + c))));
  // The columns after the last whole pack still have their sums.
  for (std::int64_t c = whole + lane_id(); c < cols; c += kWarp)
    st(y + c, from_float<T>((to_float(ld(x + c)) + to_float(ld(residual + c))) * r * to_float(ld(gamma + c))));
}

void run(const residual_rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  const bool wide = a.x.rows_aligned(16) && a.residual.rows_aligned(16) && a.s.rows_aligned(16) && a.y.rows_aligned(16);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(residual_rms<T>, {.grid = dim3(a.x.shape[0]), .block = dim3(kWarp)}, l.stream, a.x.as<T>(), a.residual.as<T>(), a.gamma.as<T>(),
           a.y.as<T>(), a.s.as<T>(), a.x.shape[1], a.x.stride[0], a.residual.stride[0], a.y.stride[0], a.s.stride[0],
           static_cast<float>(a.epsilon), wide);
  });
}

}  // namespace assay::ROOM(residual_rmsnorm, tail_of_the_unrounded_sum)
