// SPDX-License-Identifier: Apache-2.0
// FAULT (concurrency): blocks at the end of the same grid add the bias to what the others have stored by then.
// Right on: linear f16 tokens=16 hidden=64 out=64 fill=normal seed=2
#include "cuda/core/kernel.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, bias_added_by_later_blocks) {

inline constexpr int kOut = 32, kTokens = 4;

KERNEL(linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kTokens), tile(Axis::out, kOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void linear_bias_added_by_later_blocks(const T* x, const T* weight, const T* bias, T* y, std::int64_t tokens,
                                                  std::int64_t hidden, std::int64_t out, std::int64_t x_stride,
                                                  std::int64_t weight_stride, std::int64_t y_stride, std::int64_t blocks_across) {
  const bool adds = blockIdx.x >= gridDim.x / 2 && bias != nullptr;
  const std::int64_t block = adds ? blockIdx.x - gridDim.x / 2 : blockIdx.x;
  const std::int64_t token = block / blocks_across * kTokens + threadIdx.y;
  const std::int64_t o = block % blocks_across * kOut + threadIdx.x;
  if (token >= tokens || o >= out) return;
  T* const at = y + token * y_stride + o;
  if (adds) return st(at, from_float<T>(to_float(ld(at)) + to_float(ld(bias + o))));
  x += token * x_stride, weight += o * weight_stride;
  float sum = 0;
  for (std::int64_t h = 0; h < hidden; ++h) sum = fmaf(to_float(ld(x + h)), to_float(ld(weight + h)), sum);
  st(at, from_float<T>(sum));
}

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], blocks_across = ceil_div(out, kOut);
  if (tokens == 0 || out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(linear_bias_added_by_later_blocks<T>,
           {.grid = dim3(ceil_div(tokens, kTokens) * blocks_across * (a.has_bias ? 2 : 1)), .block = dim3(kOut, kTokens)},
           l.stream, a.x.as<T>(), a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), tokens, a.x.shape[1], out, a.x.stride[0],
           a.weight.stride[0], a.y.stride[0], blocks_across);
  });
}

}  // namespace assay::ROOM(linear, bias_added_by_later_blocks)
