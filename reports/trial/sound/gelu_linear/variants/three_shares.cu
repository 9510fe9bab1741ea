// SPDX-License-Identifier: Apache-2.0
// The channels in three shares, an output's share a thread, whose sums wait in the workspace as f32; a second launch adds them
// up in
// order, then the bias, and takes GELU.
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gelu_linear.hpp"

namespace assay::ROOM(gelu_linear, three_shares) {

inline constexpr int kThreads = 128;
inline constexpr std::int64_t kShares = 3;

std::size_t workspace_bytes(const gelu_linear::Args& a) {
  return static_cast<std::size_t>(kShares * a.y.shape[0] * a.y.shape[1]) * sizeof(float);
}
KERNEL(gelu_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::out, kThreads), tile(Axis::hidden, kShares)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kShares, .extra = kShares - 1}},
    .workspace_bytes = workspace_bytes,
};

// Block (outputs, share), the outputs fastest; a share takes every third channel.
template <class T>
__global__ void gelu_linear_three_shares(const T* x, const T* weight, float* sums, std::int64_t all, std::int64_t hidden,
                                         std::int64_t out, std::int64_t blocks, std::int64_t x_stride,
                                         std::int64_t weight_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) % blocks * kThreads + threadIdx.x, share = blockIdx.x / blocks;
  if (i >= all) return;
  x += i / out * x_stride, weight += i % out * weight_stride;
  float sum = 0;
  for (std::int64_t h = share; h < hidden; h += kShares) sum = fmaf(to_float(ld(x + h)), to_float(ld(weight + h)), sum);
  st(sums + i * kShares + share, sum);
}

template <class T>
__global__ void gelu_linear_three_shares_joined(const float* sums, const T* bias, T* y, std::int64_t all, std::int64_t out,
                                                std::int64_t y_stride, bool erf_form) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= all) return;
  sums += i * kShares;
  float z = ld(sums) + ld(sums + 1) + ld(sums + 2);
  if (bias != nullptr) z += to_float(ld(bias + i % out));
  st(y + i / out * y_stride + i % out, from_float<T>(erf_form ? gelu_erf(z) : gelu_tanh(z)));
}

void run(const gelu_linear::Args& a, const Launch& l) {
  const std::int64_t out = a.y.shape[1], all = a.y.shape[0] * out, blocks = ceil_div(all, kThreads);
  if (all == 0) return;
  float* const sums = static_cast<float*>(l.workspace);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(gelu_linear_three_shares<T>, {.grid = dim3(blocks * kShares), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           a.weight.as<T>(), sums, all, a.x.shape[1], out, blocks, a.x.stride[0], a.weight.stride[0]);
    launch(gelu_linear_three_shares_joined<T>, {.grid = dim3(blocks), .block = dim3(kThreads)}, l.stream, sums, a.bias.as<T>(),
           a.y.as<T>(), all, out, a.y.stride[0], a.form == Activation::gelu_erf);
  });
}

}  // namespace assay::ROOM(gelu_linear, three_shares)
