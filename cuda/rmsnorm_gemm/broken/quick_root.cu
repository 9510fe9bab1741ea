// SPDX-License-Identifier: Apache-2.0
// FAULT: the reciprocal root by shifting bits and one step of Newton's, up to 1.8e-3 too small and never too large.
// Caught by: the aggregates alone (errors towards zero), on any random fill: what x r gamma may lose to bf16 hides it.
#include "cuda/core/kernel.cuh"
#include "ops/rmsnorm_gemm.hpp"

namespace assay::ROOM(rmsnorm_gemm, quick_root) {

inline constexpr int kThreads = 64;

KERNEL(rmsnorm_gemm){
    .dtypes = {bf16},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .stores_intermediate = true},
};

__device__ inline float reciprocal_root(float v) {
  const float guess = __builtin_bit_cast(float, 0x5f3759dfu - (__builtin_bit_cast(unsigned, v) >> 1));
  return guess * (1.5f - 0.5f * v * guess * guess);
}

template <class T>
__global__ void quick_root(const T* x, const T* gamma, const T* weight, T* y, std::int64_t hidden, std::int64_t out,
                           std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride, float epsilon) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  if (o >= out) return;
  x += token * x_stride, weight += o * weight_stride;
  float squares = 0;
  for (std::int64_t h = 0; h < hidden; ++h) squares = fmaf(to_float(ld(x + h)), to_float(ld(x + h)), squares);
  const float r = reciprocal_root(squares / static_cast<float>(hidden) + epsilon);
  float sum = 0;
  for (std::int64_t h = 0; h < hidden; ++h)
    sum = fmaf(to_float(from_float<T>(to_float(ld(x + h)) * r * to_float(ld(gamma + h)))), to_float(ld(weight + h)), sum);
  st(y + token * y_stride + o, from_float<T>(sum));
}

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1];
  if (tokens == 0 || out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(quick_root<T>, {.grid = dim3(tokens, ceil_div(out, kThreads)), .block = dim3(kThreads)}, l.stream,
           a.x.as<T>(), a.gamma.as<T>(), a.weight.as<T>(), a.y.as<T>(), a.x.shape[1], out, a.x.stride[0], a.weight.stride[0],
           a.y.stride[0], static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(rmsnorm_gemm, quick_root)
