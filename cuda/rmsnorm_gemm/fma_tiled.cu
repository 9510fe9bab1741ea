// SPDX-License-Identifier: Apache-2.0
// y = r (x (gamma * W)^T) in f32 arithmetic over 128 x 128 tiles (cuda/core/fma_gemm.cuh): a first kernel computes r of every
// row, W is multiplied by gamma while it is loaded to shared memory, r is applied once, in registers.
#include "cuda/core/fma_gemm.cuh"
#include "cuda/rmsnorm_gemm/row.cuh"

namespace assay::ROOM(rmsnorm_gemm, fma_tiled) {

using namespace fma_gemm;

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kM), tile(Axis::out, kN), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},  // products; kRowChain is shorter
    .workspace_bytes = inverse_rms_bytes,
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    rmsnorm_gemm_fma_tiled(Operand<T> x, const T* gamma, Operand<T> weight, const float* r, T* y, std::int64_t y_stride,
                           std::int64_t hidden) {
  const std::int64_t across = ceil_div(weight.rows, kN), row = blockIdx.x / across * kM, column = blockIdx.x % across * kN;
  Accumulators acc;
  multiply(x, weight, row, column, hidden, acc, [&](float(&v)[kPart], std::int64_t k) {
#pragma unroll
    for (int i = 0; i < kPart; ++i)
      if (k + i < hidden) v[i] *= to_float(ld(gamma + k + i));
  });
  for_each(acc, [&](int dr, int dc, float v) {
    const std::int64_t t = row + dr, o = column + dc;
    if (t < x.rows && o < weight.rows) st(y + t * y_stride + o, from_float<T>(v * ld(r + t)));
  });
}

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  const std::int64_t tiles = ceil_div(a.y.shape[0], kM) * ceil_div(a.y.shape[1], kN);
  if (tiles == 0) return;
  float* const r = static_cast<float*>(l.workspace);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    run_inverse_rms<T>(a, r, l.stream);
    launch(rmsnorm_gemm_fma_tiled<T>, {.grid = dim3(tiles), .block = dim3(kThreads), .shared_bytes = kSharedBytes}, l.stream,
           operand<T>(a.x), a.gamma.as<T>(), operand<T>(a.weight), r, a.y.as<T>(), a.y.stride[0], a.x.shape[1]);
  });
}

}  // namespace assay::ROOM(rmsnorm_gemm, fma_tiled)
