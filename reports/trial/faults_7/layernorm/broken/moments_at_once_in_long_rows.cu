// SPDX-License-Identifier: Apache-2.0
// FAULT: Rows above 512 columns take the variance as the mean square less the squared mean, which cancels. It is wrong where a
// row's mean is large beside its deviation.
// Kind: precision
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/layernorm.hpp"

namespace assay::ROOM(layernorm, moments_at_once_in_long_rows) {

KERNEL(layernorm){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void layernorm_warp(const T* x, const T* gamma, const T* beta, T* y, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride, float epsilon) {
  x += blockIdx.x * x_stride, y += blockIdx.x * y_stride;
  const float n = static_cast<float>(cols);
  float sum = 0, squares = 0;
  if (cols > 512) {
    // Long rows are read once for both moments.
    for (std::int64_t c = lane_id(); c < cols; c += kWarp) {
      const float v = to_float(ld(x + c));
      sum += v;
      squares = fmaf(v, v, squares);
    }
    sum = warp_sum(sum), squares = warp_sum(squares);
    squares = fmaxf(squares - sum / n * sum, 0.0f);
    if (sum != sum) squares = sum;
  } else {
    for (std::int64_t c = lane_id(); c < cols; c += kWarp) sum += to_float(ld(x + c));
    sum = warp_sum(sum);
    for (std::int64_t c = lane_id(); c < cols; c += kWarp) {
      const float d = to_float(ld(x + c)) - sum / n;
      squares = fmaf(d, d, squares);
    }
    squares = warp_sum(squares);
  }
  const float mean = sum / n, r = 1.0f / sqrtf(squares / n + epsilon);
  for (std::int64_t c = lane_id(); c < cols; c += kWarp)
    st(y + c, from_float<T>(fmaf((to_float(ld(x + c)) - mean) * r, to_float(ld(gamma + c)), to_float(ld(beta + c)))));
}

void run(const layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_warp<T>, {.grid = dim3(a.x.shape[0]), .block = dim3(kWarp)}, l.stream, a.x.as<T>(), a.gamma.as<T>(), a.beta.as<T>(),
           a.y.as<T>(), a.x.shape[1], a.x.stride[0], a.y.stride[0], static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(layernorm, moments_at_once_in_long_rows)
