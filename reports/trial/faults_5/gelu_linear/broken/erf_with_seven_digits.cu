// SPDX-License-Identifier: Apache-2.0
// FAULT: erf is computed by a rational approximation with an absolute error of 1.5e-7, of which erfc of large arguments keeps
//   no digit.
// KIND: precision
// Right on: gelu_linear f16 tokens=64 hidden=64 out=64 form=tanh fill=normal seed=1
// Wrong on: gelu_linear f32 tokens=64 hidden=64 out=64 form=erf fill=normal seed=1
#include "cuda/core/activation.cuh"
#include "cuda/core/fma_gemm.cuh"
#include "ops/gelu_linear.hpp"

namespace assay::ROOM(gelu_linear, erf_with_seven_digits) {

using namespace fma_gemm;

KERNEL(gelu_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kM), tile(Axis::out, kN), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

// erf(a / sqrt 2) of a >= 0: Abramowitz, Stegun 1964, 7.1.26.
__device__ inline float erf_of(float a) {
  const float x = a * 0.7071067811865476f, t = 1.0f / fmaf(0.3275911f, x, 1.0f);
  const float p = fmaf(fmaf(fmaf(fmaf(1.061405429f, t, -1.453152027f), t, 1.421413741f), t, -0.284496736f), t, 0.254829592f);
  return 1.0f - p * t * expf(-x * x);
}
template <Activation kForm>
__device__ inline float activation(float z) {
  if constexpr (kForm == Activation::gelu_erf) return 0.5f * z * (1.0f + (z < 0.0f ? -erf_of(-z) : erf_of(z)));
  else return activate<kForm>(z);
}

template <class T, Activation kForm>
__global__ void __launch_bounds__(kThreads) gelu_linear_erf_with_seven_digits(Operand<T> x, Operand<T> weight, const T* bias,
                                                                              T* y, std::int64_t y_stride, std::int64_t hidden) {
  const std::int64_t across = ceil_div(weight.rows, kN), row = blockIdx.x / across * kM, column = blockIdx.x % across * kN;
  Accumulators acc;
  multiply(x, weight, row, column, hidden, acc);
  for_each(acc, [&](int r, int c, float z) {
    const std::int64_t t = row + r, o = column + c;
    if (t >= x.rows || o >= weight.rows) return;
    if (bias != nullptr) z += to_float(ld(bias + o));
    st(y + t * y_stride + o, from_float<T>(activation<kForm>(z)));
  });
}

void run(const gelu_linear::Args& a, const Launch& l) {
  const std::int64_t tiles = ceil_div(a.y.shape[0], kM) * ceil_div(a.y.shape[1], kN);
  if (tiles == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    with_gelu(a.form, [&]<Activation kForm>(std::integral_constant<Activation, kForm>) {
      launch(gelu_linear_erf_with_seven_digits<T, kForm>,
             {.grid = dim3(tiles), .block = dim3(kThreads), .shared_bytes = kSharedBytes}, l.stream, operand<T>(a.x),
             operand<T>(a.weight), a.bias.as<T>(), a.y.as<T>(), a.y.stride[0], a.x.shape[1]);
    });
  });
}

}  // namespace assay::ROOM(gelu_linear, erf_with_seven_digits)
