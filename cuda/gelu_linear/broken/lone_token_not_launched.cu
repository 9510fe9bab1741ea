// SPDX-License-Identifier: Apache-2.0
// FAULT: token tiles are counted as (tokens + 62) / 64: a last tile of one token is not launched.
// Caught by: T1, and T4 by the two garbage patterns in y; tokens 1, 65, 129.
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gelu_linear.hpp"

namespace assay::ROOM(gelu_linear, lone_token_not_launched) {

inline constexpr int kThreads = 64;

KERNEL(gelu_linear){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void lone_token_not_launched(const T* x, const T* weight, const T* bias, T* y, std::int64_t tokens,
                                        std::int64_t hidden, std::int64_t out, std::int64_t x_stride, std::int64_t weight_stride,
                                        std::int64_t y_stride, Activation form) {
  const std::int64_t token = blockIdx.x / out * kThreads + threadIdx.x, o = blockIdx.x % out;
  if (token >= tokens) return;
  x += token * x_stride, weight += o * weight_stride;
  float z = 0;
  for (std::int64_t h = 0; h < hidden; ++h) z = fmaf(to_float(ld(x + h)), to_float(ld(weight + h)), z);
  if (bias != nullptr) z += to_float(ld(bias + o));
  st(y + token * y_stride + o, from_float<T>(form == Activation::gelu_erf ? gelu_erf(z) : gelu_tanh(z)));
}

void run(const gelu_linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], tiles = (tokens + 62) / kThreads;
  if (tiles == 0 || out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(lone_token_not_launched<T>, {.grid = dim3(tiles * out), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), tokens, a.x.shape[1], out, a.x.stride[0], a.weight.stride[0],
           a.y.stride[0], a.form);
  });
}

}  // namespace assay::ROOM(gelu_linear, lone_token_not_launched)
