// SPDX-License-Identifier: Apache-2.0
// A row a warp, seven rows a block; 1 / root by rsqrtf, which CUDA holds within two units of the last place: 4 units of 2^-24, of
// which 3 are the root's and 1 the quotient's.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/layernorm.hpp"

namespace assay::ROOM(layernorm, rsqrt_in_warps) {

inline constexpr int kRows = 7;

KERNEL(layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kRows), tile(Axis::cols, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}, .root_error = 3},
};

template <class T>
__global__ void layernorm_rsqrt_in_warps(const T* x, const T* gamma, const T* beta, T* y, std::int64_t rows, std::int64_t cols,
                                         std::int64_t x_stride, std::int64_t y_stride, float epsilon) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + warp_id();
  if (row >= rows) return;
  x += row * x_stride, y += row * y_stride;
  const float width = static_cast<float>(cols);
  float sum = 0, squares = 0;
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) sum += to_float(ld(x + c));
  const float mean = warp_sum(sum) / width;
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) {
    const float d = to_float(ld(x + c)) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = rsqrtf(warp_sum(squares) / width + epsilon);
  for (std::int64_t c = lane_id(); c < cols; c += kWarp)
    st(y + c, from_float<T>(fmaf((to_float(ld(x + c)) - mean) * r, to_float(ld(gamma + c)), to_float(ld(beta + c)))));
}

void run(const layernorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_rsqrt_in_warps<T>, {.grid = dim3(ceil_div(rows, kRows)), .block = dim3(kRows * kWarp)}, l.stream,
           a.x.as<T>(), a.gamma.as<T>(), a.beta.as<T>(), a.y.as<T>(), rows, a.x.shape[1], a.x.stride[0], a.y.stride[0],
           static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(layernorm, rsqrt_in_warps)
