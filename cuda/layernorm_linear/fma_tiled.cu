// SPDX-License-Identifier: Apache-2.0
// f32 arithmetic over 128 x 128 tiles (cuda/core/fma_gemm.cuh): a first kernel computes mean and 1/deviation of every row; x is
// normalised, with gamma and beta, while it is loaded to shared memory as f32, so n is never rounded to the dtype.  Computes
// y^T = W n^T, since the loop allows only its second operand to be transformed.
#include "cuda/core/fma_gemm.cuh"
#include "cuda/layernorm_linear/row.cuh"

namespace assay::ROOM(layernorm_linear, fma_tiled) {

using namespace fma_gemm;

KERNEL(layernorm_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kN), tile(Axis::out, kM), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},  // products; kRowChain is shorter
    .workspace_bytes = statistics_bytes,
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    layernorm_linear_fma_tiled(Operand<T> weight, Operand<T> x, const T* gamma, const T* beta, const T* bias,
                               const Statistics* statistics, T* y, std::int64_t y_stride, std::int64_t hidden) {
  const std::int64_t across = ceil_div(x.rows, kN), row = blockIdx.x / across * kM, column = blockIdx.x % across * kN;
  const std::int64_t token = column + linear_thread() / 2;  // loaded by this thread
  const Statistics mine = token < x.rows ? ld(statistics + token) : Statistics{};
  Accumulators acc;
  multiply(weight, x, row, column, hidden, acc, [&](float(&v)[kPart], std::int64_t k) {
#pragma unroll
    for (int i = 0; i < kPart; ++i)
      if (k + i < hidden) v[i] = fmaf((v[i] - mine.mean) * mine.r, to_float(ld(gamma + k + i)), to_float(ld(beta + k + i)));
  });
  for_each(acc, [&](int dr, int dc, float v) {
    const std::int64_t o = row + dr, t = column + dc;
    if (t >= x.rows || o >= weight.rows) return;
    st(y + t * y_stride + o, from_float<T>(bias != nullptr ? v + to_float(ld(bias + o)) : v));
  });
}

void run(const layernorm_linear::Args& a, const Launch& l) {
  const std::int64_t tiles = ceil_div(a.y.shape[0], kN) * ceil_div(a.y.shape[1], kM);
  if (tiles == 0) return;
  Statistics* const statistics = static_cast<Statistics*>(l.workspace);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    run_statistics<T>(a, statistics, l.stream);
    launch(layernorm_linear_fma_tiled<T>, {.grid = dim3(tiles), .block = dim3(kThreads), .shared_bytes = kSharedBytes}, l.stream,
           operand<T>(a.weight), operand<T>(a.x), a.gamma.as<T>(), a.beta.as<T>(), a.bias.as<T>(), statistics, a.y.as<T>(),
           a.y.stride[0], a.x.shape[1]);
  });
}

}  // namespace assay::ROOM(layernorm_linear, fma_tiled)
