// SPDX-License-Identifier: Apache-2.0
// FAULT: splits hidden in two halves from 1024 channels on; the first half is stored in y, in the dtype, and the second launch
// adds to it. Visible for f16 and bf16 from hidden=1024 on, where the halves cancel.
// KIND: precision
#include "cuda/core/kernel.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, halves_meet_in_dtype) {

inline constexpr int kOut = 32, kTokens = 4;

KERNEL(linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kTokens), tile(Axis::out, kOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void linear_naive(const T* x, const T* weight, const T* bias, T* y, std::int64_t tokens, std::int64_t hidden,
                             std::int64_t out, std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride,
                             std::int64_t blocks_across, bool adds) {
  const std::int64_t token = blockIdx.x / blocks_across * kTokens + threadIdx.y;
  const std::int64_t o = blockIdx.x % blocks_across * kOut + threadIdx.x;
  if (token >= tokens || o >= out) return;
  x += token * x_stride, weight += o * weight_stride;
  float sum = 0;
  for (std::int64_t h = 0; h < hidden; ++h) sum = fmaf(to_float(ld(x + h)), to_float(ld(weight + h)), sum);
  if (bias != nullptr) sum += to_float(ld(bias + o));
  if (adds) sum += to_float(ld(y + token * y_stride + o));
  st(y + token * y_stride + o, from_float<T>(sum));
}

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], blocks_across = ceil_div(out, kOut);
  if (tokens == 0 || out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const std::int64_t hidden = a.x.shape[1], half = hidden >= 1024 ? hidden / 2 : 0;
    const auto part = [&](std::int64_t first, std::int64_t end, const T* bias, bool adds) {
      launch(linear_naive<T>, {.grid = dim3(ceil_div(tokens, kTokens) * blocks_across), .block = dim3(kOut, kTokens)}, l.stream,
             a.x.as<T>() + first, a.weight.as<T>() + first, bias, a.y.as<T>(), tokens, end - first, out, a.x.stride[0],
             a.weight.stride[0], a.y.stride[0], blocks_across, adds);
    };
    if (half > 0) part(0, half, nullptr, false);
    part(half, hidden, a.bias.as<T>(), half > 0);
  });
}

}  // namespace assay::ROOM(linear, halves_meet_in_dtype)
