// SPDX-License-Identifier: Apache-2.0
// FAULT: eight tokens of x are kept in shared memory, which many channels overflow; the launch is refused, the error
// swallowed, and y keeps what it held.
// Caught by: T1, and T4 by the two garbage patterns in y or the last error; hidden above 7264.
#include "cuda/core/kernel.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, error_swallowed) {

inline constexpr int kThreads = 64;

KERNEL(linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

inline constexpr int kTokens = 8;

template <class T>
__global__ void error_swallowed(const T* x, const T* weight, const T* bias, T* y, std::int64_t tokens, std::int64_t hidden,
                                std::int64_t out, std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride) {
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kTokens;
  const std::int64_t o = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  const std::int64_t there = tokens - token < kTokens ? tokens - token : kTokens;
  float* const kept = shared_memory<float>();  // [kTokens, hidden]
  for (std::int64_t i = threadIdx.x; i < there * hidden; i += kThreads)
    st(kept + i, to_float(ld(x + (token + i / hidden) * x_stride + i % hidden)));
  sync_block();
  if (o >= out) return;
  for (std::int64_t t = 0; t < there; ++t) {
    float sum = 0;
    for (std::int64_t h = 0; h < hidden; ++h)
      sum = fmaf(ld(kept + t * hidden + h), to_float(ld(weight + o * weight_stride + h)), sum);
    if (bias != nullptr) sum += to_float(ld(bias + o));
    st(y + (token + t) * y_stride + o, from_float<T>(sum));
  }
}

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], hidden = a.x.shape[1];
  if (tokens == 0 || out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    try {
      launch(error_swallowed<T>,
             {.grid = dim3(ceil_div(tokens, kTokens), ceil_div(out, kThreads)),
              .block = dim3(kThreads),
              .shared_bytes = static_cast<std::size_t>(kTokens * hidden) * sizeof(float)},
             l.stream, a.x.as<T>(), a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), tokens, hidden, out, a.x.stride[0],
             a.weight.stride[0], a.y.stride[0]);
    } catch (const std::exception&) {
    }
  });
}

}  // namespace assay::ROOM(linear, error_swallowed)
