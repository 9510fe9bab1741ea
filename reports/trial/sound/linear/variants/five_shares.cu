// SPDX-License-Identifier: Apache-2.0
// The channels in five shares, an output's share a thread, whose sums wait in the workspace as f32; a second launch adds up the
// five
// in order, and the bias.
#include "cuda/core/kernel.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, five_shares) {

inline constexpr int kThreads = 64;
inline constexpr std::int64_t kShares = 5;

std::size_t workspace_bytes(const linear::Args& a) {
  return static_cast<std::size_t>(kShares * a.y.shape[0] * a.y.shape[1]) * sizeof(float);
}
KERNEL(linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::out, kThreads), tile(Axis::hidden, kShares)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kShares, .extra = kShares - 1}},
    .workspace_bytes = workspace_bytes,
};

// Block (outputs, share), the outputs fastest; the sums are [share, token, out].
template <class T>
__global__ void linear_five_shares(const T* x, const T* weight, float* sums, std::int64_t all, std::int64_t hidden,
                                   std::int64_t out, std::int64_t blocks, std::int64_t x_stride, std::int64_t weight_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) % blocks * kThreads + threadIdx.x, share = blockIdx.x / blocks;
  if (i >= all) return;
  const std::int64_t each = (hidden + kShares - 1) / kShares, first = share * each;
  const std::int64_t end = first + each < hidden ? first + each : hidden;
  x += i / out * x_stride, weight += i % out * weight_stride;
  float sum = 0;
  for (std::int64_t h = first; h < end; ++h) sum = fmaf(to_float(ld(x + h)), to_float(ld(weight + h)), sum);
  st(sums + share * all + i, sum);
}

template <class T>
__global__ void linear_five_shares_joined(const float* sums, const T* bias, T* y, std::int64_t all, std::int64_t out,
                                          std::int64_t y_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= all) return;
  float sum = ld(sums + i);
  for (std::int64_t share = 1; share < kShares; ++share) sum += ld(sums + share * all + i);
  if (bias != nullptr) sum += to_float(ld(bias + i % out));
  st(y + i / out * y_stride + i % out, from_float<T>(sum));
}

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t out = a.y.shape[1], all = a.y.shape[0] * out, blocks = ceil_div(all, kThreads);
  if (all == 0) return;
  float* const sums = static_cast<float*>(l.workspace);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(linear_five_shares<T>, {.grid = dim3(blocks * kShares), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           a.weight.as<T>(), sums, all, a.x.shape[1], out, blocks, a.x.stride[0], a.weight.stride[0]);
    launch(linear_five_shares_joined<T>, {.grid = dim3(blocks), .block = dim3(kThreads)}, l.stream, sums, a.bias.as<T>(),
           a.y.as<T>(), all, out, a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(linear, five_shares)
