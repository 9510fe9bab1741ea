// SPDX-License-Identifier: Apache-2.0
// One thread per output: the mean square of its row, then the sum of x r gamma w as a serial FMA chain.  Any layout.  Every
// output recomputes its row's squares.
#include "cuda/core/kernel.cuh"
#include "ops/rmsnorm_gemm.hpp"

namespace assay::ROOM(rmsnorm_gemm, naive) {

inline constexpr int kOut = 32, kTokens = 4;

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kTokens), tile(Axis::out, kOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void rmsnorm_gemm_naive(const T* x, const T* gamma, const T* weight, T* y, std::int64_t tokens, std::int64_t hidden,
                                   std::int64_t out, std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride,
                                   std::int64_t blocks_across, float epsilon) {
  const std::int64_t token = blockIdx.x / blocks_across * kTokens + threadIdx.y;
  const std::int64_t o = blockIdx.x % blocks_across * kOut + threadIdx.x;
  if (token >= tokens || o >= out) return;
  x += token * x_stride;
  weight += o * weight_stride;
  float squares = 0;
  for (std::int64_t h = 0; h < hidden; ++h) squares = fmaf(to_float(ld(x + h)), to_float(ld(x + h)), squares);
  const float r = 1.0f / sqrtf(squares / static_cast<float>(hidden) + epsilon);
  float sum = 0;
  for (std::int64_t h = 0; h < hidden; ++h)
    sum = fmaf(to_float(ld(x + h)) * r * to_float(ld(gamma + h)), to_float(ld(weight + h)), sum);
  st(y + token * y_stride + o, from_float<T>(sum));
}

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], blocks_across = ceil_div(out, kOut);
  if (tokens == 0 || out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_gemm_naive<T>, {.grid = dim3(ceil_div(tokens, kTokens) * blocks_across), .block = dim3(kOut, kTokens)},
           l.stream, a.x.as<T>(), a.gamma.as<T>(), a.weight.as<T>(), a.y.as<T>(), tokens, a.x.shape[1], out, a.x.stride[0],
           a.weight.stride[0], a.y.stride[0], blocks_across, static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(rmsnorm_gemm, naive)
