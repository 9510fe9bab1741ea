// SPDX-License-Identifier: Apache-2.0
// FAULT: The sum is rounded to the storage dtype after every 512 terms, before the next ones are added. Products above 512
// terms in f16 and bf16 lose more than the one rounding of the output.
// Kind: precision
#include "cuda/core/kernel.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, carried_sum_rounded_to_dtype) {

KERNEL(linear){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void linear_in_chunks(const T* x, const T* weight, const T* bias, T* y, std::int64_t hidden, std::int64_t out, std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride) {
  const std::int64_t blocks = (out + 63) / 64, token = blockIdx.x / blocks, o = blockIdx.x % blocks * 64 + threadIdx.x;
  if (o >= out) return;
  x += token * x_stride, weight += o * weight_stride;
  T carried = from_float<T>(0.0f);
  float sum = 0;
  for (std::int64_t from = 0; from < hidden; from += 512) {
    const std::int64_t end = from + 512 < hidden ? from + 512 : hidden;
    sum = to_float(carried);
    for (std::int64_t h = from; h < end; ++h) sum = fmaf(to_float(ld(x + h)), to_float(ld(weight + h)), sum);
    carried = from_float<T>(sum);
  }
  if (bias != nullptr) sum += to_float(ld(bias + o));
  st(y + token * y_stride + o, from_float<T>(sum));
}

void run(const linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(linear_in_chunks<T>, {.grid = dim3(a.y.shape[0] * ceil_div(a.y.shape[1], 64)), .block = dim3(64)}, l.stream, a.x.as<T>(),
           a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), a.x.shape[1], a.y.shape[1], a.x.stride[0], a.weight.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(linear, carried_sum_rounded_to_dtype)
