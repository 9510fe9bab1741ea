// SPDX-License-Identifier: Apache-2.0
// y = r (x (gamma * W)^T) on tensor cores (cuda/core/mma_gemm.cuh): x enters unchanged, a first kernel computes r of every row,
// and r is applied once, to the accumulators.  Fragments of W are multiplied by gamma in registers, two 16-bit products per
// instruction, each rounded; gamma is copied to shared memory with the tiles.
#include "cuda/core/mma_gamma.cuh"
#include "cuda/rmsnorm_gemm/row.cuh"

namespace assay::ROOM(rmsnorm_gemm, mma_tiled) {

using namespace mma_gemm;

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, kM), tile(Axis::out, kN), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .chain = kRowChain, .mma_terms = 8, .stores = "scaled_weight"},
    .workspace_bytes = inverse_rms_bytes,
};

template <class T, bool kWide>
__global__ void __launch_bounds__(kThreads, kBlocksAnSm)
    rmsnorm_gemm_mma_tiled(Operand<T> x, const T* gamma, Operand<T> weight, const float* r, Result<T> y, std::int64_t hidden) {
  const TilePlace tile = tile_place(ceil_div(y.rows, kM), ceil_div(y.columns, kN));
  const std::int64_t row = tile.m * kM, column = tile.n * kN, mine = linear_thread() / kChunks;
  Accumulators acc;
  multiply<T, kWide>(Loader<T, kM>(x, row + mine, kRowsAtOnce), Loader<T, kN>(weight, column + mine, kRowsAtOnce), hidden, acc,
                     TimesGamma<T, kWide>{gamma, hidden});
#pragma unroll
  for (int i = 0; i < kTilesM; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::int64_t token = row + warp_row() + lane_id() / 4 + i * 16 + half * 8;
      const float scale = token < y.rows ? ld(r + token) : 0.0f;
#pragma unroll
      for (int j = 0; j < kTilesN; ++j) {
        acc.c[i][j][half * 2] *= scale;
        acc.c[i][j][half * 2 + 1] *= scale;
      }
    }
  for_pairs(acc, [&](int dr, int dc, float v0, float v1) { y.store(row + dr, column + dc, v0, v1); });
}

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  const std::int64_t tiles = ceil_div(a.y.shape[0], kM) * ceil_div(a.y.shape[1], kN);
  if (tiles == 0) return;
  float* const r = static_cast<float*>(l.workspace);
  const bool wide =
      a.x.rows_aligned(mma_gemm::kAccess) && a.weight.rows_aligned(mma_gemm::kAccess) && a.gamma.rows_aligned(mma_gemm::kAccess);
  const auto go = [&]<class T, bool kWide>(Type<T>, std::bool_constant<kWide>) {
    launch(rmsnorm_gemm_mma_tiled<T, kWide>, {.grid = dim3(tiles), .block = dim3(kThreads), .shared_bytes = kBlockSharedBytes},
           l.stream, operand<T>(a.x), a.gamma.as<T>(), operand<T>(a.weight), r, result<T>(a.y), a.x.shape[1]);
  };
  with_half_type(a.x.dtype, [&]<class T>(Type<T> t) {
    run_inverse_rms<T>(a, r, l.stream);
    wide ? go(t, std::true_type{}) : go(t, std::false_type{});
  });
}

}  // namespace assay::ROOM(rmsnorm_gemm, mma_tiled)
