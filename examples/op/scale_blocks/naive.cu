// SPDX-License-Identifier: Apache-2.0
// One thread per element.
#include "cuda/core/kernel.cuh"
#include "scale_blocks.hpp"

namespace assay::ROOM(scale_blocks, naive) {

inline constexpr int kThreads = 128;

KERNEL(scale_blocks){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(scale_blocks::channels, kThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
__global__ void scale_blocks_naive(const T* x, const T* scale, T* y, std::int64_t channels, std::int64_t x_stride,
                                   std::int64_t scale_stride, std::int64_t y_stride) {
  const std::int64_t token = blockIdx.x, channel = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  if (channel >= channels) return;
  const float factor = to_float(ld(scale + token * scale_stride + channel / scale_blocks::kBlock));
  st(y + token * y_stride + channel, from_float<T>(to_float(ld(x + token * x_stride + channel)) * factor));
}

void run(const scale_blocks::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], channels = a.y.shape[1];
  if (tokens * channels == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(scale_blocks_naive<T>, {.grid = dim3(tokens, ceil_div(channels, kThreads)), .block = dim3(kThreads)}, l.stream,
           a.x.as<T>(), a.scale.as<T>(), a.y.as<T>(), channels, a.x.stride[0], a.scale.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(scale_blocks, naive)
