// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum is split among blocks that add their parts to y, and nobody sets y to zero first. Right up to 64 channels,
// which are not split.
// Caught by: T1, and T4 by the two garbage patterns in y; hidden above 64.
#include "cuda/core/kernel.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, split_k_not_zeroed) {

inline constexpr int kThreads = 64;

KERNEL(linear){
    .dtypes = {f32},
    .deterministic = false,
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

inline constexpr std::int64_t kPart = 64;  // channels

template <class T>
__global__ void split_k_not_zeroed(const T* x, const T* weight, const T* bias, T* y, std::int64_t hidden, std::int64_t out,
                                   std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride) {
  const std::int64_t parts = ceil_div(hidden, kPart), token = blockIdx.x / parts, first = blockIdx.x % parts * kPart;
  const std::int64_t o = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  if (o >= out) return;
  x += token * x_stride, weight += o * weight_stride;
  float sum = 0;
  for (std::int64_t h = first; h < hidden && h < first + kPart; ++h) sum = fmaf(ld(x + h), ld(weight + h), sum);
  if (bias != nullptr && first == 0) sum += ld(bias + o);
  if (parts == 1) st(y + token * y_stride + o, sum);
  else atomic_add(y + token * y_stride + o, sum);
}

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], hidden = a.x.shape[1];
  if (tokens == 0 || out == 0) return;
  launch(split_k_not_zeroed<float>,
         {.grid = dim3(tokens * ceil_div(hidden, kPart), ceil_div(out, kThreads)), .block = dim3(kThreads)}, l.stream,
         a.x.as<float>(), a.weight.as<float>(), a.bias.as<float>(), a.y.as<float>(), hidden, out, a.x.stride[0],
         a.weight.stride[0], a.y.stride[0]);
}

}  // namespace assay::ROOM(linear, split_k_not_zeroed)
