// SPDX-License-Identifier: Apache-2.0
// FAULT: the path for a single token is instantiated with the tanh form only.
// KIND: combinations
// Right on: gelu_linear f16 tokens=64 hidden=64 out=64 form=erf fill=normal seed=1
// Wrong on: gelu_linear f16 tokens=1 hidden=64 out=64 form=erf fill=normal seed=1
// Wrong on: gelu_linear f32 tokens=1 hidden=64 out=64 form=erf fill=unit seed=1
#include "cuda/core/activation.cuh"
#include "cuda/core/fma_gemm.cuh"
#include "ops/gelu_linear.hpp"

namespace assay::ROOM(gelu_linear, one_token_always_tanh) {

using namespace fma_gemm;

KERNEL(gelu_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kM), tile(Axis::out, kN), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T, Activation kForm>
__global__ void __launch_bounds__(kThreads) gelu_linear_one_token_always_tanh(Operand<T> x, Operand<T> weight, const T* bias,
                                                                              T* y, std::int64_t y_stride, std::int64_t hidden) {
  const std::int64_t across = ceil_div(weight.rows, kN), row = blockIdx.x / across * kM, column = blockIdx.x % across * kN;
  Accumulators acc;
  multiply(x, weight, row, column, hidden, acc);
  for_each(acc, [&](int r, int c, float z) {
    const std::int64_t t = row + r, o = column + c;
    if (t >= x.rows || o >= weight.rows) return;
    if (bias != nullptr) z += to_float(ld(bias + o));
    st(y + t * y_stride + o, from_float<T>(activate<kForm>(z)));
  });
}

void run(const gelu_linear::Args& a, const Launch& l) {
  const std::int64_t tiles = ceil_div(a.y.shape[0], kM) * ceil_div(a.y.shape[1], kN);
  if (tiles == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    with_gelu(a.y.shape[0] == 1 ? Activation::gelu_tanh : a.form,
              [&]<Activation kForm>(std::integral_constant<Activation, kForm>) {
                launch(gelu_linear_one_token_always_tanh<T, kForm>,
                       {.grid = dim3(tiles), .block = dim3(kThreads), .shared_bytes = kSharedBytes}, l.stream, operand<T>(a.x),
                       operand<T>(a.weight), a.bias.as<T>(), a.y.as<T>(), a.y.stride[0], a.x.shape[1]);
              });
  });
}

}  // namespace assay::ROOM(gelu_linear, one_token_always_tanh)
