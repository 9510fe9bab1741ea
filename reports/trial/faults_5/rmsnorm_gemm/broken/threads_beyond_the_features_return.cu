// SPDX-License-Identifier: Apache-2.0
// FAULT: threads beyond the last feature return before the block sums the squares of the token, with the squares that they
//   hold; wrong where out is no multiple of 64.
// KIND: concurrency
// Right on: rmsnorm_gemm f16 tokens=32 hidden=128 out=64 fill=normal seed=1
// Wrong on: rmsnorm_gemm f16 tokens=8 hidden=256 out=33 fill=normal seed=1
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/rmsnorm_gemm.hpp"

namespace assay::ROOM(rmsnorm_gemm, threads_beyond_the_features_return) {

inline constexpr int kOut = 64;  // features, and threads, of a block

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},  // of the products; the sum of squares is shorter
};

template <class T>
__global__ void __launch_bounds__(kOut)
    rmsnorm_gemm_features(const T* x, const T* gamma, const T* weight, T* y, std::int64_t hidden, std::int64_t out,
                          std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride, std::int64_t blocks_across,
                          float epsilon) {
  const std::int64_t token = blockIdx.x / blocks_across, o = blockIdx.x % blocks_across * kOut + threadIdx.x;
  if (o >= out) return;
  x += token * x_stride, weight += o * weight_stride;
  float squares = 0;
  for (std::int64_t h = threadIdx.x; h < hidden; h += kOut) squares = fmaf(to_float(ld(x + h)), to_float(ld(x + h)), squares);
  const float r = 1.0f / sqrtf(block_sum(squares, shared_memory<float>()) / static_cast<float>(hidden) + epsilon);
  float sum = 0;
  for (std::int64_t h = 0; h < hidden; ++h)
    sum = fmaf(to_float(ld(x + h)) * r * to_float(ld(gamma + h)), to_float(ld(weight + h)), sum);
  st(y + token * y_stride + o, from_float<T>(sum));
}

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], blocks_across = ceil_div(out, kOut);
  if (tokens == 0 || out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_gemm_features<T>,
           {.grid = dim3(tokens * blocks_across), .block = dim3(kOut), .shared_bytes = kWarp * sizeof(float)}, l.stream,
           a.x.as<T>(), a.gamma.as<T>(), a.weight.as<T>(), a.y.as<T>(), a.x.shape[1], out, a.x.stride[0], a.weight.stride[0],
           a.y.stride[0], blocks_across, static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(rmsnorm_gemm, threads_beyond_the_features_return)
