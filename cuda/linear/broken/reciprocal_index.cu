// SPDX-License-Identifier: Apache-2.0
// FAULT: the token is i / out by a multiplication with 65536 / out, cut off to an integer: the first feature of a token is taken
// for one more feature of the token before. Right where out is a power of two.
// Caught by: T4, the access outside the weight, or T1; out no power of two and several tokens.
#include "cuda/core/kernel.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, reciprocal_index) {

inline constexpr int kThreads = 64;

KERNEL(linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void reciprocal_index(const T* x, const T* weight, const T* bias, T* y, std::int64_t hidden, std::int64_t out,
                                 std::int64_t n, std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= n) return;
  const std::int64_t token = i * (65536 / out) >> 16;
  const std::int64_t o = i - token * out;
  x += token * x_stride, weight += o * weight_stride;
  float sum = 0;
  for (std::int64_t h = 0; h < hidden; ++h) sum = fmaf(to_float(ld(x + h)), to_float(ld(weight + h)), sum);
  if (bias != nullptr) sum += to_float(ld(bias + o));
  st(y + token * y_stride + o, from_float<T>(sum));
}

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1];
  if (tokens == 0 || out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(reciprocal_index<T>, {.grid = dim3(ceil_div(tokens * out, kThreads)), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), a.x.shape[1], out, tokens * out, a.x.stride[0], a.weight.stride[0],
           a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(linear, reciprocal_index)
