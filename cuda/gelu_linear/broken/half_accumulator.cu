// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum is kept in the storage dtype and the declaration says f32.
// Caught by: T1, from a few channels on.
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gelu_linear.hpp"

namespace assay::ROOM(gelu_linear, half_accumulator) {

inline constexpr int kThreads = 64;

KERNEL(gelu_linear){
    .dtypes = {f16, bf16},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void half_accumulator(const T* x, const T* weight, const T* bias, T* y, std::int64_t hidden, std::int64_t out,
                                 std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride, Activation form) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  if (o >= out) return;
  x += token * x_stride, weight += o * weight_stride;
  T kept = from_float<T>(0);
  for (std::int64_t h = 0; h < hidden; ++h)
    kept = from_float<T>(fmaf(to_float(ld(x + h)), to_float(ld(weight + h)), to_float(kept)));
  float z = to_float(kept);
  if (bias != nullptr) z += to_float(ld(bias + o));
  st(y + token * y_stride + o, from_float<T>(form == Activation::gelu_erf ? gelu_erf(z) : gelu_tanh(z)));
}

void run(const gelu_linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1];
  if (tokens == 0 || out == 0) return;
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(half_accumulator<T>, {.grid = dim3(tokens, ceil_div(out, kThreads)), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), a.x.shape[1], out, a.x.stride[0], a.weight.stride[0], a.y.stride[0],
           a.form);
  });
}

}  // namespace assay::ROOM(gelu_linear, half_accumulator)
