// SPDX-License-Identifier: Apache-2.0
// An output a warp of a fixed grid that walks on; a lane takes every 32nd channel, and five exchanges join the lanes.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, output_a_warp) {

inline constexpr int kWarps = 6;
inline constexpr std::int64_t kMostBlocks = 96;

KERNEL(linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::out, kWarps), tile(Axis::hidden, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}},
};

template <class T>
__global__ void linear_output_a_warp(const T* x, const T* weight, const T* bias, T* y, std::int64_t all, std::int64_t hidden,
                                     std::int64_t out, std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kWarps;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id(); i < all; i += step) {
    const std::int64_t token = i / out, o = i - token * out;
    float sum = 0;
    for (std::int64_t h = lane_id(); h < hidden; h += kWarp)
      sum = fmaf(to_float(ld(x + token * x_stride + h)), to_float(ld(weight + o * weight_stride + h)), sum);
    sum = warp_sum(sum);
    if (lane_id() == 0) st(y + token * y_stride + o, from_float<T>(bias != nullptr ? sum + to_float(ld(bias + o)) : sum));
  }
}

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t all = a.y.size();
  if (all == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(linear_output_a_warp<T>,
           {.grid = dim3(std::min(ceil_div(all, kWarps), kMostBlocks)), .block = dim3(kWarps * kWarp)}, l.stream, a.x.as<T>(),
           a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), all, a.x.shape[1], a.y.shape[1], a.x.stride[0], a.weight.stride[0],
           a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(linear, output_a_warp)
