// SPDX-License-Identifier: Apache-2.0
// One thread per output, as in naive, its sum taken from the last channel to the first, the bias first.  Any layout.
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gelu_linear.hpp"

namespace assay::ROOM(gelu_linear, reversed_sum) {

inline constexpr int kThreads = 64;

KERNEL(gelu_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void gelu_linear_reversed(const T* x, const T* weight, const T* bias, T* y, std::int64_t hidden, std::int64_t out,
                                     std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride, bool erf_form) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  if (o >= out) return;
  x += token * x_stride;
  weight += o * weight_stride;
  float z = bias != nullptr ? to_float(ld(bias + o)) : 0;
  for (std::int64_t h = hidden - 1; h >= 0; --h) z = fmaf(to_float(ld(x + h)), to_float(ld(weight + h)), z);
  st(y + token * y_stride + o, from_float<T>(erf_form ? gelu_erf(z) : gelu_tanh(z)));
}

void run(const gelu_linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(gelu_linear_reversed<T>, {.grid = dim3(a.y.shape[0], ceil_div(a.y.shape[1], kThreads)), .block = dim3(kThreads)},
           l.stream, a.x.as<T>(), a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), a.x.shape[1], a.y.shape[1], a.x.stride[0],
           a.weight.stride[0], a.y.stride[0], a.form == Activation::gelu_erf);
  });
}

}  // namespace assay::ROOM(gelu_linear, reversed_sum)
