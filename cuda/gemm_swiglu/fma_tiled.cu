// SPDX-License-Identifier: Apache-2.0
// f32 arithmetic over 128 x 128 tiles of y (cuda/core/fma_gemm.cuh): the tile of gate, then that of up, both kept in registers.
#include "cuda/core/activation.cuh"
#include "cuda/core/fma_gemm.cuh"
#include "ops/gemm_swiglu.hpp"

namespace assay::ROOM(gemm_swiglu, fma_tiled) {

using namespace fma_gemm;

KERNEL(gemm_swiglu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kM), tile(Axis::ffn, kN), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    gemm_swiglu_fma_tiled(Operand<T> x, Operand<T> w_gate, Operand<T> w_up, T* y, std::int64_t y_stride, std::int64_t hidden) {
  const std::int64_t across = ceil_div(w_gate.rows, kN), row = blockIdx.x / across * kM, column = blockIdx.x % across * kN;
  Accumulators gate, up;
  multiply(x, w_gate, row, column, hidden, gate);
  multiply(x, w_up, row, column, hidden, up);
#pragma unroll
  for (int i = 0; i < kSide; ++i)
#pragma unroll
    for (int j = 0; j < kSide; ++j) {
      const std::int64_t t = row + row_of(i), f = column + column_of(j);
      if (t < x.rows && f < w_gate.rows) st(y + t * y_stride + f, from_float<T>(silu(gate.c[i][j]) * up.c[i][j]));
    }
}

void run(const gemm_swiglu::Args& a, const Launch& l) {
  const std::int64_t tiles = ceil_div(a.y.shape[0], kM) * ceil_div(a.y.shape[1], kN);
  if (tiles == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(gemm_swiglu_fma_tiled<T>, {.grid = dim3(tiles), .block = dim3(kThreads), .shared_bytes = kSharedBytes}, l.stream,
           operand<T>(a.x), operand<T>(a.w_gate), operand<T>(a.w_up), a.y.as<T>(), a.y.stride[0], a.x.shape[1]);
  });
}

}  // namespace assay::ROOM(gemm_swiglu, fma_tiled)
