// SPDX-License-Identifier: Apache-2.0
// FAULT: The function is taken as z above 3.5 and as -0 below -3.5, where both forms still differ from that by up to 0.0008.
// Inputs of such size are wrong.
// Kind: algorithm
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gelu.hpp"

namespace assay::ROOM(gelu, straight_beyond_three) {

KERNEL(gelu){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

__device__ inline float by_tanh(float z) { return z > 3.5f ? z : z < -3.5f && z > -INFINITY ? -0.0f : gelu_tanh(z); }
__device__ inline float by_erf(float z) { return z > 3.5f ? z : z < -3.5f && z > -INFINITY ? -0.0f : gelu_erf(z); }

template <class T>
__global__ void gelu_each(const T* x, T* y, std::int64_t all, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride, bool erf_form) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * 128 + threadIdx.x;
  if (i >= all) return;
  const float z = to_float(ld(x + i / cols * x_stride + i % cols));
  st(y + i / cols * y_stride + i % cols, from_float<T>(erf_form ? by_erf(z) : by_tanh(z)));
}

void run(const gelu::Args& a, const Launch& l) {
  if (a.x.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(gelu_each<T>, {.grid = dim3(ceil_div(a.x.size(), 128)), .block = dim3(128)}, l.stream, a.x.as<T>(), a.y.as<T>(), a.x.size(),
           a.x.shape[1], a.x.stride[0], a.y.stride[0], a.form == Activation::gelu_erf);
  });
}

}  // namespace assay::ROOM(gelu, straight_beyond_three)
