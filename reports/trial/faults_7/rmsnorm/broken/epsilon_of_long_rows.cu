// SPDX-License-Identifier: Apache-2.0
// FAULT: Rows above 1024 columns add 1e-5 in place of the epsilon that was given. It shows with another epsilon, most in rows
// of small elements or with epsilon 0.
// Kind: combinations
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, epsilon_of_long_rows) {

KERNEL(rmsnorm){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

__device__ inline float inverse_root(float v) { return 1.0f / sqrtf(v); }

template <class T>
__global__ void rms_warp(const T* x, const T* gamma, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride, float epsilon) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * 4 + warp_id();
  if (row >= rows) return;
  x += row * x_stride, y += row * y_stride;
  float squares = 0;
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) squares = fmaf(to_float(ld(x + c)), to_float(ld(x + c)), squares);
  const float r = inverse_root(warp_sum(squares) / static_cast<float>(cols) + (cols > 1024 ? 1e-5f : epsilon));
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) st(y + c, from_float<T>(to_float(ld(x + c)) * r * to_float(ld(gamma + c))));
}

void run(const rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rms_warp<T>, {.grid = dim3(ceil_div(a.x.shape[0], 4)), .block = dim3(4 * kWarp)}, l.stream, a.x.as<T>(), a.gamma.as<T>(),
           a.y.as<T>(), a.x.shape[0], a.x.shape[1], a.x.stride[0], a.y.stride[0], static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(rmsnorm, epsilon_of_long_rows)
