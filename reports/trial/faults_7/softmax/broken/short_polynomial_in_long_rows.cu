// SPDX-License-Identifier: Apache-2.0
// FAULT: The exponential of rows above 1024 columns is a polynomial of degree four, which errs by 4e-5. It exceeds what the
// kernel declares in f32.
// Kind: precision
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, short_polynomial_in_long_rows) {

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

// 2^t for t <= 0, by the fraction's polynomial and the exponent's bits.
__device__ inline float power(float t) {
  if (!(t > -126.0f)) return t != t ? t : 0.0f;
  const float whole = floorf(t), f = t - whole;
  const float p = fmaf(fmaf(fmaf(fmaf(0.013670309f, f, 0.05174499f), f, 0.24160436f), f, 0.69297546f), f, 1.0000026f);
  return ldexpf(p, static_cast<int>(whole));
}
template <bool kLong>
__device__ inline float exponential(float d) {
  if constexpr (kLong) return power(d * 1.4426950408889634f);
  else return expf(d);
}

template <class T, bool kLong>
__global__ void softmax_by_block(const T* x, T* y, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride) {
  float* const scratch = shared_memory<float>();
  x += blockIdx.x * x_stride, y += blockIdx.x * y_stride;
  float max = -INFINITY, sum = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += blockDim.x) max = fmaxf(max, to_float(ld(x + c)));
  max = block_max(max, scratch);
  for (std::int64_t c = threadIdx.x; c < cols; c += blockDim.x) sum += exponential<kLong>(to_float(ld(x + c)) - max);
  sum = block_sum(sum, scratch);
  for (std::int64_t c = threadIdx.x; c < cols; c += blockDim.x) st(y + c, from_float<T>(exponential<kLong>(to_float(ld(x + c)) - max) / sum));
}

void run(const softmax::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(a.x.shape[1] > 1024 ? softmax_by_block<T, true> : softmax_by_block<T, false>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(128), .shared_bytes = kWarp * sizeof(float)}, l.stream, a.x.as<T>(), a.y.as<T>(),
           a.x.shape[1], a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, short_polynomial_in_long_rows)
