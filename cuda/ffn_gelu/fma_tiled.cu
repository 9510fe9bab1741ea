// SPDX-License-Identifier: Apache-2.0
// Two products in f32 arithmetic over 128 x 128 tiles (cuda/core/fma_gemm.cuh): bias and GELU are applied in registers, h goes to
// workspace in the dtype.
#include "cuda/core/activation.cuh"
#include "cuda/core/fma_gemm.cuh"
#include "ops/ffn_gelu.hpp"

namespace assay::ROOM(ffn_gelu, fma_tiled) {

using namespace fma_gemm;

std::int64_t pitch(std::int64_t columns) { return ceil_div(columns, 8) * 8; }
std::size_t workspace_bytes(const ffn_gelu::Args& a) {
  return static_cast<std::size_t>(a.x.shape[0] * pitch(a.w1.shape[0]) * size_of(a.x.dtype));
}

KERNEL(ffn_gelu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kM), tile(Axis::ffn, kK), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .stores = "h"},
    .workspace_bytes = workspace_bytes,
};

template <class T, class F>
__global__ void __launch_bounds__(kThreads)
    ffn_gelu_fma_tiled(Operand<T> x, Operand<T> weight, const T* bias, T* y, std::int64_t y_stride, std::int64_t inner, F f) {
  const std::int64_t across = ceil_div(weight.rows, kN), row = blockIdx.x / across * kM, column = blockIdx.x % across * kN;
  Accumulators acc;
  multiply(x, weight, row, column, inner, acc);
  for_each(acc, [&](int r, int c, float v) {
    const std::int64_t t = row + r, o = column + c;
    if (t >= x.rows || o >= weight.rows) return;
    st(y + t * y_stride + o, from_float<T>(f(bias != nullptr ? v + to_float(ld(bias + o)) : v)));
  });
}

template <Activation kForm>
struct Gelu {
  __device__ float operator()(float z) const { return activate<kForm>(z); }
};
struct Same {
  __device__ float operator()(float v) const { return v; }
};

template <class T, class F>
void run_step(const Tensor& x, const Tensor& w, const Tensor& bias, const Tensor& y, F f, void* stream) {
  const std::int64_t tiles = ceil_div(y.shape[0], kM) * ceil_div(y.shape[1], kN);
  launch(ffn_gelu_fma_tiled<T, F>, {.grid = dim3(tiles), .block = dim3(kThreads), .shared_bytes = kSharedBytes}, stream,
         operand<T>(x), operand<T>(w), bias.as<T>(), y.as<T>(), y.stride[0], x.shape[1], f);
}

void run(const ffn_gelu::Args& a, const Launch& l) {
  const std::int64_t tokens = a.x.shape[0], ffn = a.w1.shape[0];
  if (tokens == 0) return;
  const Tensor h{.data = l.workspace, .dtype = a.x.dtype, .rank = 2, .shape = {tokens, ffn}, .stride = {pitch(ffn), 1}};
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    with_gelu(a.form, [&]<Activation kForm>(std::integral_constant<Activation, kForm>) {
      run_step<T>(a.x, a.w1, a.b1, h, Gelu<kForm>{}, l.stream);
    });
    run_step<T>(h, a.w2, a.b2, a.y, Same{}, l.stream);
  });
}

}  // namespace assay::ROOM(ffn_gelu, fma_tiled)
