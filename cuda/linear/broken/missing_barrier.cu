// SPDX-License-Identifier: Apache-2.0
// FAULT: the token is brought to shared memory by all threads of the block and read without a barrier.
// Caught by: T1 in an order that lets a reader be first; the watch as a race. More than one channel.
#include "cuda/core/kernel.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, missing_barrier) {

inline constexpr int kThreads = 64;

KERNEL(linear){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void missing_barrier(const T* x, const T* weight, const T* bias, T* y, std::int64_t hidden, std::int64_t out,
                                std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  float* const kept = shared_memory<float>();  // [hidden]
  for (std::int64_t h = threadIdx.x; h < hidden; h += kThreads) st(kept + h, to_float(ld(x + token * x_stride + h)));
  if (o >= out) return;
  weight += o * weight_stride;
  float sum = 0;
  for (std::int64_t h = 0; h < hidden; ++h) sum = fmaf(ld(kept + h), to_float(ld(weight + h)), sum);
  if (bias != nullptr) sum += to_float(ld(bias + o));
  st(y + token * y_stride + o, from_float<T>(sum));
}

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], hidden = a.x.shape[1];
  if (tokens == 0 || out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(missing_barrier<T>,
           {.grid = dim3(tokens, ceil_div(out, kThreads)),
            .block = dim3(kThreads),
            .shared_bytes = static_cast<std::size_t>(hidden) * sizeof(float)},
           l.stream, a.x.as<T>(), a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), hidden, out, a.x.stride[0], a.weight.stride[0],
           a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(linear, missing_barrier)
