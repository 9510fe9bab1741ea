// SPDX-License-Identifier: Apache-2.0
// An output a thread, both of its sums as four side by side, then joined in pairs; 1 / root by rsqrtf, within two units of the
// last
// place: 4 units of 2^-24, 3 of them the root's.
#include "cuda/core/kernel.cuh"
#include "ops/rmsnorm_gemm.hpp"

namespace assay::ROOM(rmsnorm_gemm, four_sums) {

inline constexpr int kThreads = 96;

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::out, kThreads), tile(Axis::hidden, 4)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 4, .extra = 2}, .root_error = 3},
};

template <class T>
__global__ void rmsnorm_gemm_four_sums(const T* x, const T* gamma, const T* weight, T* y, std::int64_t hidden, std::int64_t out,
                                       std::int64_t across, std::int64_t x_stride, std::int64_t weight_stride,
                                       std::int64_t y_stride, float epsilon) {
  const std::int64_t token = blockIdx.x / across, o = blockIdx.x % across * kThreads + threadIdx.x;
  if (o >= out) return;
  x += token * x_stride, weight += o * weight_stride;
  float sum[4] = {}, squares[4] = {};
  for (std::int64_t h = 0; h < hidden; h += 4) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (h + j >= hidden) continue;
      const float v = to_float(ld(x + h + j));
      squares[j] = fmaf(v, v, squares[j]);
    }
  }
  const float square = (squares[0] + squares[2]) + (squares[1] + squares[3]);
  const float r = rsqrtf(square / static_cast<float>(hidden) + epsilon);
  for (std::int64_t h = 0; h < hidden; h += 4) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (h + j >= hidden) continue;
      const float norm = to_float(ld(x + h + j)) * r * to_float(ld(gamma + h + j));
      sum[j] = fmaf(norm, to_float(ld(weight + h + j)), sum[j]);
    }
  }
  st(y + token * y_stride + o, from_float<T>((sum[0] + sum[2]) + (sum[1] + sum[3])));
}

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], across = ceil_div(out, kThreads);
  if (tokens * out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_gemm_four_sums<T>, {.grid = dim3(tokens * across), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           a.gamma.as<T>(), a.weight.as<T>(), a.y.as<T>(), a.x.shape[1], out, across, a.x.stride[0], a.weight.stride[0],
           a.y.stride[0], static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(rmsnorm_gemm, four_sums)
