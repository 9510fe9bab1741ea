// SPDX-License-Identifier: Apache-2.0
// A feature a thread, for eight tokens at once: each element of its weight is loaded once for the eight.
#include "cuda/core/kernel.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, feature_a_thread) {

inline constexpr int kThreads = 64, kTokens = 8;

KERNEL(linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kTokens), tile(Axis::out, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void linear_feature_a_thread(const T* x, const T* weight, const T* bias, T* y, std::int64_t tokens,
                                        std::int64_t hidden, std::int64_t out, std::int64_t across, std::int64_t x_stride,
                                        std::int64_t weight_stride, std::int64_t y_stride) {
  const std::int64_t o = blockIdx.x % across * kThreads + threadIdx.x, first = blockIdx.x / across * kTokens;
  if (o >= out) return;
  const int count = tokens - first < kTokens ? static_cast<int>(tokens - first) : kTokens;
  float sum[kTokens];
  const float start = bias != nullptr ? to_float(ld(bias + o)) : 0.0f;
#pragma unroll
  for (int t = 0; t < kTokens; ++t) sum[t] = 0;
  for (std::int64_t h = 0; h < hidden; ++h) {
    const float w = to_float(ld(weight + o * weight_stride + h));
#pragma unroll
    for (int t = 0; t < kTokens; ++t)
      if (t < count) sum[t] = fmaf(w, to_float(ld(x + (first + t) * x_stride + h)), sum[t]);
  }
#pragma unroll
  for (int t = 0; t < kTokens; ++t)
    if (t < count) st(y + (first + t) * y_stride + o, from_float<T>(sum[t] + start));
}

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], across = ceil_div(out, kThreads);
  if (tokens * out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(linear_feature_a_thread<T>, {.grid = dim3(across * ceil_div(tokens, kTokens)), .block = dim3(kThreads)}, l.stream,
           a.x.as<T>(), a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), tokens, a.x.shape[1], out, across, a.x.stride[0],
           a.weight.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(linear, feature_a_thread)
