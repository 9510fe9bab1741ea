// SPDX-License-Identifier: Apache-2.0
// Shared by the kernels of this room: the reciprocal root mean square of a row, by one block per row.
#pragma once

#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/rmsnorm_gemm.hpp"

namespace assay::ASSAY_FLAVOUR::rmsnorm_gemm_room {

inline constexpr int kAccess = 16;  // bytes of the widest access
inline constexpr int kRowThreads = 128, kBatch = 4;
inline constexpr std::size_t kRowSharedBytes = kWarp * sizeof(float);  // for block_sum

// Each of a thread's N sums takes at most ceil(hidden / 128) elements, one of the tail included; 3 additions join them, and 10
// the block.
inline constexpr Chain kRowChain = {.lanes = kRowThreads, .extra = 13};

// 1 / sqrt(mean(x^2) + epsilon), returned to every thread.  N elements per access, kBatch accesses in flight.
template <class T, int N>
__device__ inline float inverse_rms(const T* x, std::int64_t hidden, float epsilon) {
  static_assert(N <= 8 && N <= kRowThreads);
  using Pack = Vec<T, N>;
  const Pack* const packs = reinterpret_cast<const Pack*>(x);
  const std::int64_t count = hidden / N;
  float sums[N] = {};
  for (std::int64_t base = threadIdx.x; base < count; base += kBatch * kRowThreads) {
    Pack batch[kBatch] = {};
#pragma unroll
    for (int i = 0; i < kBatch; ++i)
      if (base + i * kRowThreads < count) batch[i] = ld(packs + base + i * kRowThreads);
#pragma unroll
    for (int i = 0; i < kBatch; ++i)
#pragma unroll
      for (int j = 0; j < N; ++j) sums[j] = fmaf(to_float(batch[i][j]), to_float(batch[i][j]), sums[j]);
  }
  if (const std::int64_t h = count * N + threadIdx.x; h < hidden) {
    const float v = to_float(ld(x + h));
    sums[0] = fmaf(v, v, sums[0]);
  }
#pragma unroll
  for (int half = N / 2; half > 0; half /= 2)
#pragma unroll
    for (int j = 0; j < half; ++j) sums[j] += sums[j + half];
  return 1.0f / sqrtf(block_sum(sums[0], shared_memory<float>()) / static_cast<float>(hidden) + epsilon);
}

template <class T, int N>
__global__ void __launch_bounds__(kRowThreads)
    rmsnorm_gemm_inverse_rms(const T* x, std::int64_t x_stride, std::int64_t hidden, float epsilon, float* r) {
  const float v = inverse_rms<T, N>(x + blockIdx.x * x_stride, hidden, epsilon);
  if (threadIdx.x == 0) st(r + blockIdx.x, v);
}

// r [tokens] of every row of x.
template <class T>
void run_inverse_rms(const rmsnorm_gemm::Args& a, float* r, void* stream) {
  const auto go = [&]<int N>(std::integral_constant<int, N>) {
    launch(rmsnorm_gemm_inverse_rms<T, N>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kRowThreads), .shared_bytes = kRowSharedBytes}, stream, a.x.as<T>(),
           a.x.stride[0], a.x.shape[1], static_cast<float>(a.epsilon), r);
  };
  a.x.rows_aligned(kAccess) ? go(std::integral_constant<int, kAccess / sizeof(T)>{}) : go(std::integral_constant<int, 1>{});
}

// Workspace for r.
inline std::size_t inverse_rms_bytes(const rmsnorm_gemm::Args& a) {
  return static_cast<std::size_t>(a.x.shape[0]) * sizeof(float);
}

}  // namespace assay::ASSAY_FLAVOUR::rmsnorm_gemm_room
