// SPDX-License-Identifier: Apache-2.0
// FAULT (state): a call with the same addresses and extents takes the kept result if the hash of all of x is the same: weights
// are taken for constant.
// Right on: linear f16 tokens=16 hidden=64 out=64 fill=normal seed=2
#include "../../kept.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, key_of_x_alone) {

inline constexpr int kOut = 32, kTokens = 4;

KERNEL(linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kTokens), tile(Axis::out, kOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .workspace_bytes = [](const linear::Args& a) { return static_cast<std::size_t>(256 + a.y.bytes()); },
};

template <class T>
__global__ void linear_key_of_x_alone(const T* x, const T* weight, const T* bias, T* y, std::int64_t tokens, std::int64_t hidden,
                                      std::int64_t out, std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride,
                                      std::int64_t blocks_across, const unsigned* key, T* store) {
  const std::int64_t token = blockIdx.x / blocks_across * kTokens + threadIdx.y;
  const std::int64_t o = blockIdx.x % blocks_across * kOut + threadIdx.x;
  if (token >= tokens || o >= out) return;
  store += token * out + o;
  if (ld(key + 1) != 0) return st(y + token * y_stride + o, ld(store));
  x += token * x_stride, weight += o * weight_stride;
  float sum = 0;
  for (std::int64_t h = 0; h < hidden; ++h) sum = fmaf(to_float(ld(x + h)), to_float(ld(weight + h)), sum);
  if (bias != nullptr) sum += to_float(ld(bias + o));
  st(store, from_float<T>(sum));
  st(y + token * y_stride + o, from_float<T>(sum));
}

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], blocks_across = ceil_div(out, kOut);
  if (tokens == 0 || out == 0) return;
  static kept::Call before{};
  const bool repeated = kept::again(
      before,
      {{a.x.data, a.weight.data, a.bias.data, a.y.data, l.workspace}, {tokens, out, a.x.shape[1], a.x.stride[0]}, a.x.dtype});
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    kept::run_decide(l, repeated, kept::Hash<T>{a.x.as<T>(), 0, tokens, 1, 0, a.x.shape[1], 1, a.x.stride[0]});
    launch(linear_key_of_x_alone<T>, {.grid = dim3(ceil_div(tokens, kTokens) * blocks_across), .block = dim3(kOut, kTokens)},
           l.stream, a.x.as<T>(), a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), tokens, a.x.shape[1], out, a.x.stride[0],
           a.weight.stride[0], a.y.stride[0], blocks_across, kept::key_of(l), kept::store_of<T>(l));
  });
}

}  // namespace assay::ROOM(linear, key_of_x_alone)
