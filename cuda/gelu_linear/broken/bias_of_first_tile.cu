// SPDX-License-Identifier: Apache-2.0
// FAULT: the bias is taken by the feature's place in its tile: every tile gets that of the first.
// Caught by: T1, with a bias and more than 64 features.
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gelu_linear.hpp"

namespace assay::ROOM(gelu_linear, bias_of_first_tile) {

inline constexpr int kThreads = 64;

KERNEL(gelu_linear){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void bias_of_first_tile(const T* x, const T* weight, const T* bias, T* y, std::int64_t hidden, std::int64_t out,
                                   std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride, Activation form) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  if (o >= out) return;
  x += token * x_stride, weight += o * weight_stride;
  float z = 0;
  for (std::int64_t h = 0; h < hidden; ++h) z = fmaf(to_float(ld(x + h)), to_float(ld(weight + h)), z);
  if (bias != nullptr) z += to_float(ld(bias + threadIdx.x));
  st(y + token * y_stride + o, from_float<T>(form == Activation::gelu_erf ? gelu_erf(z) : gelu_tanh(z)));
}

void run(const gelu_linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1];
  if (tokens == 0 || out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(bias_of_first_tile<T>, {.grid = dim3(tokens, ceil_div(out, kThreads)), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), a.x.shape[1], out, a.x.stride[0], a.weight.stride[0], a.y.stride[0],
           a.form);
  });
}

}  // namespace assay::ROOM(gelu_linear, bias_of_first_tile)
