// SPDX-License-Identifier: Apache-2.0
// FAULT: one block a token along y, of which a grid has 65,535.
// Caught by: T4, the launch is refused; more tokens than that.
#include "cuda/core/kernel.cuh"
#include "ops/rmsnorm_gemm.hpp"

namespace assay::ROOM(rmsnorm_gemm, token_grid_overflow) {

inline constexpr int kThreads = 64;

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void token_grid_overflow(const T* x, const T* gamma, const T* weight, T* y, std::int64_t hidden, std::int64_t out,
                                    std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride, float epsilon) {
  const std::int64_t token = blockIdx.y, o = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (o >= out) return;
  x += token * x_stride, weight += o * weight_stride;
  float squares = 0;
  for (std::int64_t h = 0; h < hidden; ++h) squares = fmaf(to_float(ld(x + h)), to_float(ld(x + h)), squares);
  const float r = 1.0f / sqrtf(squares / static_cast<float>(hidden) + epsilon);
  float sum = 0;
  for (std::int64_t h = 0; h < hidden; ++h)
    sum = fmaf(to_float(ld(x + h)) * r * to_float(ld(gamma + h)), to_float(ld(weight + h)), sum);
  st(y + token * y_stride + o, from_float<T>(sum));
}

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1];
  if (tokens == 0 || out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(token_grid_overflow<T>, {.grid = dim3(ceil_div(out, kThreads), tokens), .block = dim3(kThreads)}, l.stream,
           a.x.as<T>(), a.gamma.as<T>(), a.weight.as<T>(), a.y.as<T>(), a.x.shape[1], out, a.x.stride[0], a.weight.stride[0],
           a.y.stride[0], static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(rmsnorm_gemm, token_grid_overflow)
