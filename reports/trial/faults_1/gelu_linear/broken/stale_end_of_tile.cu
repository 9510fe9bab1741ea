// SPDX-License-Identifier: Apache-2.0
// FAULT: a tile of 16 channels is always summed whole, but only the channels that exist are loaded into it: the rest is of the
// tile before, or of nobody.
// Kind: concurrency
// Shows: hidden that is no multiple of 16.
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gelu_linear.hpp"

namespace assay::ROOM(gelu_linear, stale_end_of_tile) {

inline constexpr int kTile = 16;

template <class T>
__global__ void gelu_linear_tiles(const T* x, const T* weight, const T* bias, T* y, std::int64_t tokens, std::int64_t hidden,
                                  std::int64_t out, std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride,
                                  bool erf_form) {
  float* const xs = shared_memory<float>();
  float* const ws = xs + kTile * kTile;
  const int across = static_cast<int>(threadIdx.x), down = static_cast<int>(threadIdx.y);
  const std::int64_t tiles = (out + kTile - 1) / kTile;
  const std::int64_t first_token = blockIdx.x / tiles * kTile, first_out = blockIdx.x % tiles * kTile;
  const std::int64_t token = first_token + down, o = first_out + across, o_loaded = first_out + down;
  float sum = 0;
  for (std::int64_t k = 0; k < hidden; k += kTile) {
    if (const std::int64_t h = k + across; h < hidden) {
      st(xs + down * kTile + across, token < tokens ? to_float(ld(x + token * x_stride + h)) : 0.0f);
      st(ws + down * kTile + across, o_loaded < out ? to_float(ld(weight + o_loaded * weight_stride + h)) : 0.0f);
    }
    sync_block();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum = fmaf(ld(xs + down * kTile + i), ld(ws + across * kTile + i), sum);
    sync_block();
  }
  if (token >= tokens || o >= out) return;
  const float z = bias != nullptr ? sum + to_float(ld(bias + o)) : sum;
  st(y + token * y_stride + o, from_float<T>(erf_form ? gelu_erf(z) : gelu_tanh(z)));
}

KERNEL(gelu_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kTile), tile(Axis::out, kTile), tile(Axis::hidden, kTile)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

void run(const gelu_linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1];
    launch(gelu_linear_tiles<T>,
           {.grid = dim3(ceil_div(tokens, kTile) * ceil_div(out, kTile)),
            .block = dim3(kTile, kTile),
            .shared_bytes = 2 * kTile * kTile * sizeof(float)},
           l.stream, a.x.as<T>(), a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), tokens, a.x.shape[1], out, a.x.stride[0],
           a.weight.stride[0], a.y.stride[0], a.form == Activation::gelu_erf);
  });
}

}  // namespace assay::ROOM(gelu_linear, stale_end_of_tile)
