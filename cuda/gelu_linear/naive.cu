// SPDX-License-Identifier: Apache-2.0
// One thread per output with a serial FMA chain, then GELU as z/2 (1 + tanh) or z/2 (1 + erf).  Any layout.
#include "cuda/core/kernel.cuh"
#include "ops/gelu_linear.hpp"

namespace assay::ROOM(gelu_linear, naive) {

inline constexpr int kOut = 32, kTokens = 4;

KERNEL(gelu_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kTokens), tile(Axis::out, kOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .cancelling_gelu = true},
};

__device__ inline float gelu(float z, Activation form) {
  if (form == Activation::gelu_erf) return 0.5f * z * (1.0f + erff(z * 0.7071067811865476f));
  const float u = z * fmaf(0.035677408136300125f, z * z, 0.7978845608028654f);  // sqrt(2/pi) (z + 0.044715 z^3)
  return 0.5f * z * (1.0f + tanhf(u));
}

template <class T>
__global__ void gelu_linear_naive(const T* x, const T* weight, const T* bias, T* y, std::int64_t tokens, std::int64_t hidden,
                                  std::int64_t out, std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride,
                                  std::int64_t blocks_across, Activation form) {
  const std::int64_t token = blockIdx.x / blocks_across * kTokens + threadIdx.y;
  const std::int64_t o = blockIdx.x % blocks_across * kOut + threadIdx.x;
  if (token >= tokens || o >= out) return;
  x += token * x_stride;
  weight += o * weight_stride;
  float z = 0;
  for (std::int64_t h = 0; h < hidden; ++h) z = fmaf(to_float(ld(x + h)), to_float(ld(weight + h)), z);
  if (bias != nullptr) z += to_float(ld(bias + o));
  st(y + token * y_stride + o, from_float<T>(gelu(z, form)));
}

void run(const gelu_linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], blocks_across = ceil_div(out, kOut);
  if (tokens == 0 || out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(gelu_linear_naive<T>, {.grid = dim3(ceil_div(tokens, kTokens) * blocks_across), .block = dim3(kOut, kTokens)},
           l.stream, a.x.as<T>(), a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), tokens, a.x.shape[1], out, a.x.stride[0],
           a.weight.stride[0], a.y.stride[0], blocks_across, a.form);
  });
}

}  // namespace assay::ROOM(gelu_linear, naive)
