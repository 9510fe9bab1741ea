// SPDX-License-Identifier: Apache-2.0
// Two launches: the product with its bias goes to the workspace in the dtype, a warp an output; then GELU, element by element.
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/gelu_linear.hpp"

namespace assay::ROOM(gelu_linear, stored_before_gelu) {

inline constexpr int kWarps = 4, kThreads = kWarps * kWarp;

std::size_t workspace_bytes(const gelu_linear::Args& a) {
  return static_cast<std::size_t>(a.y.shape[0] * a.y.shape[1] * size_of(a.y.dtype));
}
KERNEL(gelu_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::out, kWarps), tile(Axis::hidden, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}, .stores_intermediate = true},
    .workspace_bytes = workspace_bytes,
};

template <class T>
__global__ void gelu_linear_stored_product(const T* x, const T* weight, const T* bias, T* z, std::int64_t all,
                                           std::int64_t hidden, std::int64_t out, std::int64_t x_stride,
                                           std::int64_t weight_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (i >= all) return;
  x += i / out * x_stride, weight += i % out * weight_stride;
  float sum = 0;
  for (std::int64_t h = lane_id(); h < hidden; h += kWarp) sum = fmaf(to_float(ld(x + h)), to_float(ld(weight + h)), sum);
  sum = warp_sum(sum);
  if (lane_id() == 0) st(z + i, from_float<T>(bias != nullptr ? sum + to_float(ld(bias + i % out)) : sum));
}

template <class T>
__global__ void gelu_linear_then_gelu(const T* z, T* y, std::int64_t all, std::int64_t out, std::int64_t y_stride,
                                      bool erf_form) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= all) return;
  const float v = to_float(ld(z + i));
  st(y + i / out * y_stride + i % out, from_float<T>(erf_form ? gelu_erf(v) : gelu_tanh(v)));
}

void run(const gelu_linear::Args& a, const Launch& l) {
  const std::int64_t all = a.y.size(), out = a.y.shape[1];
  if (all == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    T* const z = static_cast<T*>(l.workspace);
    launch(gelu_linear_stored_product<T>, {.grid = dim3(ceil_div(all, kWarps)), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           a.weight.as<T>(), a.bias.as<T>(), z, all, a.x.shape[1], out, a.x.stride[0], a.weight.stride[0]);
    launch(gelu_linear_then_gelu<T>, {.grid = dim3(ceil_div(all, kThreads)), .block = dim3(kThreads)}, l.stream, z, a.y.as<T>(),
           all, out, a.y.stride[0], a.form == Activation::gelu_erf);
  });
}

}  // namespace assay::ROOM(gelu_linear, stored_before_gelu)
