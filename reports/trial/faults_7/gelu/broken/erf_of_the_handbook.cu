// SPDX-License-Identifier: Apache-2.0
// FAULT: The erf form uses the handbook's rational erfc, whose absolute error of 1.5e-7 is not relative to its small values. It
// is wrong for z below -1 in f32 and below -4 in f16.
// Kind: precision
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gelu.hpp"

namespace assay::ROOM(gelu, erf_of_the_handbook) {

KERNEL(gelu){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

__device__ inline float by_tanh(float z) { return gelu_tanh(z); }
// x/2 erfc(-x / sqrt 2), by Abramowitz and Stegun 7.1.26.
__device__ inline float by_erf(float z) {
  if (!(fabsf(z) <= 13.0f)) return gelu_erf(z);
  const float a = fabsf(z) * 0.70710678f, t = 1.0f / fmaf(0.3275911f, a, 1.0f);
  const float tail = t * expf(-a * a) * fmaf(t, fmaf(t, fmaf(t, fmaf(t, 1.061405429f, -1.453152027f), 1.421413741f), -0.284496736f), 0.254829592f);
  return 0.5f * z * (z < 0.0f ? tail : 2.0f - tail);
}

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

}  // namespace assay::ROOM(gelu, erf_of_the_handbook)
