// SPDX-License-Identifier: Apache-2.0
// FAULT: the first thread leaves r in shared memory and the others read it without a barrier.
// Caught by: T4, two runs that differ, in an order that lets a reader be first; the watch as a race. More than one feature.
#include "cuda/core/kernel.cuh"
#include "ops/rmsnorm_gemm.hpp"

namespace assay::ROOM(rmsnorm_gemm, missing_barrier) {

inline constexpr int kThreads = 64;

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void missing_barrier(const T* x, const T* gamma, const T* weight, T* y, std::int64_t hidden, std::int64_t out,
                                std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride, float epsilon) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  x += token * x_stride, weight += o * weight_stride;
  float* const shared_r = shared_memory<float>();
  if (threadIdx.x == 0) {
    float squares = 0;
    for (std::int64_t h = 0; h < hidden; ++h) squares = fmaf(to_float(ld(x + h)), to_float(ld(x + h)), squares);
    st(shared_r, 1.0f / sqrtf(squares / static_cast<float>(hidden) + epsilon));
  }
  if (o >= out) return;
  const float r = ld(shared_r);
  float sum = 0;
  for (std::int64_t h = 0; h < hidden; ++h)
    sum = fmaf(to_float(ld(x + h)) * r * to_float(ld(gamma + h)), to_float(ld(weight + h)), sum);
  st(y + token * y_stride + o, from_float<T>(sum));
}

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1];
  if (tokens == 0 || out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(missing_barrier<T>,
           {.grid = dim3(tokens, ceil_div(out, kThreads)), .block = dim3(kThreads), .shared_bytes = sizeof(float)}, l.stream,
           a.x.as<T>(), a.gamma.as<T>(), a.weight.as<T>(), a.y.as<T>(), a.x.shape[1], out, a.x.stride[0], a.weight.stride[0],
           a.y.stride[0], static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(rmsnorm_gemm, missing_barrier)
