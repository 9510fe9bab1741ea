// SPDX-License-Identifier: Apache-2.0
// FAULT (state): a call with the extents of the call before adds the bias that workspace holds from it.
// Right on: linear f16 tokens=16 hidden=64 out=64 bias=yes fill=normal seed=2
#include "../../kept.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, bias_of_the_call_before) {

inline constexpr int kOut = 32, kTokens = 4;

KERNEL(linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kTokens), tile(Axis::out, kOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .workspace_bytes = [](const linear::Args& a) { return static_cast<std::size_t>(256 + a.y.shape[1] * 4); },
};

template <class T>
__global__ void linear_bias_of_the_call_before(const T* x, const T* weight, const T* bias, T* y, std::int64_t tokens,
                                               std::int64_t hidden, std::int64_t out, std::int64_t x_stride,
                                               std::int64_t weight_stride, std::int64_t y_stride, std::int64_t blocks_across) {
  const std::int64_t token = blockIdx.x / blocks_across * kTokens + threadIdx.y;
  const std::int64_t o = blockIdx.x % blocks_across * kOut + threadIdx.x;
  if (token >= tokens || o >= out) return;
  x += token * x_stride, weight += o * weight_stride;
  float sum = 0;
  for (std::int64_t h = 0; h < hidden; ++h) sum = fmaf(to_float(ld(x + h)), to_float(ld(weight + h)), sum);
  if (bias != nullptr) sum += to_float(ld(bias + o));
  st(y + token * y_stride + o, from_float<T>(sum));
}

template <class T>
__global__ void linear_keep_bias(const T* bias, T* store, std::int64_t out, const unsigned* key) {
  if (ld(key + 1) != 0) return;
  const std::int64_t o = static_cast<std::int64_t>(blockIdx.x) * kOut + threadIdx.x;
  if (o < out) st(store + o, ld(bias + o));
}

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], blocks_across = ceil_div(out, kOut);
  if (tokens == 0 || out == 0) return;
  static kept::Call before{};
  const bool repeated = kept::again(before, {{a.bias.data, l.workspace}, {tokens, out, a.x.shape[1]}, a.x.dtype});
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    T* const store = a.has_bias ? kept::store_of<T>(l) : nullptr;
    if (a.has_bias) kept::run_decide(l, repeated, kept::Mark{});
    if (a.has_bias)
      launch(linear_keep_bias<T>, {.grid = dim3(blocks_across), .block = dim3(kOut)}, l.stream, a.bias.as<T>(), store, out,
             kept::key_of(l));
    launch(linear_bias_of_the_call_before<T>,
           {.grid = dim3(ceil_div(tokens, kTokens) * blocks_across), .block = dim3(kOut, kTokens)}, l.stream, a.x.as<T>(),
           a.weight.as<T>(), static_cast<const T*>(store), a.y.as<T>(), tokens, a.x.shape[1], out, a.x.stride[0],
           a.weight.stride[0], a.y.stride[0], blocks_across);
  });
}

}  // namespace assay::ROOM(linear, bias_of_the_call_before)
