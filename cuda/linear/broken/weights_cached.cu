// SPDX-License-Identifier: Apache-2.0
// FAULT: from 64 channels on the weight is converted into workspace, once for each pointer: the next call finds what the
// workspace then holds.
// Caught by: T4, the second run differs from the first; hidden of 64 or more.
#include "cuda/core/kernel.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, weights_cached) {

inline constexpr int kThreads = 64;

std::size_t workspace_bytes(const linear::Args& a) {
  return a.x.shape[1] < 64 ? 0 : static_cast<std::size_t>(a.weight.size()) * sizeof(float);
}

KERNEL(linear){
    .dtypes = {f16},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .workspace_bytes = workspace_bytes,
};

__global__ void weights_cached_convert(const half* weight, float* to, std::int64_t hidden, std::int64_t stride, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < n) st(to + i, to_float(ld(weight + i / hidden * stride + i % hidden)));
}

template <class W>
__global__ void weights_cached(const half* x, const W* weight, const half* bias, half* y, std::int64_t hidden, std::int64_t out,
                               std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  if (o >= out) return;
  x += token * x_stride, weight += o * weight_stride;
  float sum = 0;
  for (std::int64_t h = 0; h < hidden; ++h) sum = fmaf(to_float(ld(x + h)), to_float(ld(weight + h)), sum);
  if (bias != nullptr) sum += to_float(ld(bias + o));
  st(y + token * y_stride + o, from_float<half>(sum));
}

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], hidden = a.x.shape[1];
  if (tokens == 0 || out == 0) return;
  const auto go = [&]<class W>(const W* weight, std::int64_t stride) {
    launch(weights_cached<W>, {.grid = dim3(tokens, ceil_div(out, kThreads)), .block = dim3(kThreads)}, l.stream, a.x.as<half>(),
           weight, a.bias.as<half>(), a.y.as<half>(), hidden, out, a.x.stride[0], stride, a.y.stride[0]);
  };
  if (hidden < 64) return go(a.weight.as<const half>(), a.weight.stride[0]);
  static const void* converted = nullptr;
  if (converted != a.weight.data)
    launch(weights_cached_convert, {.grid = dim3(ceil_div(out * hidden, kThreads)), .block = dim3(kThreads)}, l.stream,
           a.weight.as<half>(), static_cast<float*>(l.workspace), hidden, a.weight.stride[0], out * hidden);
  converted = a.weight.data;
  go(static_cast<const float*>(l.workspace), hidden);
}

}  // namespace assay::ROOM(linear, weights_cached)
