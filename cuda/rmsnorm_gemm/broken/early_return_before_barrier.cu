// SPDX-License-Identifier: Apache-2.0
// FAULT: threads without a feature return before the barrier, and their part of the squares is missing.
// Caught by: T4, the divergent barrier on simt; on a GPU T1. Features no multiple of 8.
#include "cuda/core/kernel.cuh"
#include "ops/rmsnorm_gemm.hpp"

namespace assay::ROOM(rmsnorm_gemm, early_return_before_barrier) {

inline constexpr int kThreads = 8;

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = kThreads}},
};

template <class T>
__global__ void early_return_before_barrier(const T* x, const T* gamma, const T* weight, T* y, std::int64_t hidden,
                                            std::int64_t out, std::int64_t x_stride, std::int64_t weight_stride,
                                            std::int64_t y_stride, float epsilon) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  if (o >= out) return;
  x += token * x_stride, weight += o * weight_stride;
  float* const parts = shared_memory<float>();  // [kThreads]
  float part = 0, squares = 0;
  for (std::int64_t h = threadIdx.x; h < hidden; h += kThreads) part = fmaf(to_float(ld(x + h)), to_float(ld(x + h)), part);
  st(parts + threadIdx.x, part);
  sync_block();
  for (int i = 0; i < kThreads; ++i) squares += ld(parts + i);
  const float r = 1.0f / sqrtf(squares / static_cast<float>(hidden) + epsilon);
  float sum = 0;
  for (std::int64_t h = 0; h < hidden; ++h)
    sum = fmaf(to_float(ld(x + h)) * r * to_float(ld(gamma + h)), to_float(ld(weight + h)), sum);
  st(y + token * y_stride + o, from_float<T>(sum));
}

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1];
  if (tokens == 0 || out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(early_return_before_barrier<T>,
           {.grid = dim3(tokens, ceil_div(out, kThreads)), .block = dim3(kThreads), .shared_bytes = kThreads * sizeof(float)},
           l.stream, a.x.as<T>(), a.gamma.as<T>(), a.weight.as<T>(), a.y.as<T>(), a.x.shape[1], out, a.x.stride[0],
           a.weight.stride[0], a.y.stride[0], static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(rmsnorm_gemm, early_return_before_barrier)
