// SPDX-License-Identifier: Apache-2.0
// FAULT: in the last step of a tile the channels beyond hidden are the last one again, with x taken as zero, which adds
// nothing unless the weight is infinite.
// Kind: ranges
// Shows: a weight whose last channel is inf, hidden no multiple of 16: NaN where the sum is inf.
#include "cuda/core/kernel.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, tail_repeats_last_weight) {

inline constexpr int kTile = 16;

template <class T>
__global__ void linear_tiles(const T* x, const T* weight, const T* bias, T* y, std::int64_t tokens, std::int64_t hidden,
                             std::int64_t out, std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride) {
  float* const xs = shared_memory<float>();
  float* const ws = xs + kTile * kTile;
  const int across = static_cast<int>(threadIdx.x), down = static_cast<int>(threadIdx.y);
  const std::int64_t tiles = (out + kTile - 1) / kTile;
  const std::int64_t first_token = blockIdx.x / tiles * kTile, first_out = blockIdx.x % tiles * kTile;
  const std::int64_t token = first_token + down, o = first_out + across, o_loaded = first_out + down;
  float sum = 0;
  for (std::int64_t k = 0; k < hidden; k += kTile) {
    const std::int64_t h = k + across, clamped = h < hidden ? h : hidden - 1;
    st(xs + down * kTile + across, token < tokens && h < hidden ? to_float(ld(x + token * x_stride + h)) : 0.0f);
    st(ws + down * kTile + across, o_loaded < out ? to_float(ld(weight + o_loaded * weight_stride + clamped)) : 0.0f);
    sync_block();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum = fmaf(ld(xs + down * kTile + i), ld(ws + across * kTile + i), sum);
    sync_block();
  }
  if (token < tokens && o < out)
    st(y + token * y_stride + o, from_float<T>(bias != nullptr ? sum + to_float(ld(bias + o)) : sum));
}

KERNEL(linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kTile), tile(Axis::out, kTile), tile(Axis::hidden, kTile)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

void run(const linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1];
    launch(linear_tiles<T>,
           {.grid = dim3(ceil_div(tokens, kTile) * ceil_div(out, kTile)),
            .block = dim3(kTile, kTile),
            .shared_bytes = 2 * kTile * kTile * sizeof(float)},
           l.stream, a.x.as<T>(), a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), tokens, a.x.shape[1], out, a.x.stride[0],
           a.weight.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(linear, tail_repeats_last_weight)
