// SPDX-License-Identifier: Apache-2.0
// The plain kernel, its sum taken from the last channel to the first.
#include "cuda/core/kernel.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, reversed_sum) {

inline constexpr int kThreads = 64;

KERNEL(linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void reversed_sum(const T* x, const T* weight, const T* bias, T* y, std::int64_t hidden, std::int64_t out,
                             std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  if (o >= out) return;
  x += token * x_stride, weight += o * weight_stride;
  float sum = 0;
  for (std::int64_t h = hidden; h-- > 0;) sum = fmaf(to_float(ld(x + h)), to_float(ld(weight + h)), sum);
  if (bias != nullptr) sum += to_float(ld(bias + o));
  st(y + token * y_stride + o, from_float<T>(sum));
}

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1];
  if (tokens == 0 || out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(reversed_sum<T>, {.grid = dim3(tokens, ceil_div(out, kThreads)), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), a.x.shape[1], out, a.x.stride[0], a.weight.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(linear, reversed_sum)
