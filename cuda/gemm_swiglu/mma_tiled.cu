// SPDX-License-Identifier: Apache-2.0
// One product for both weights on tensor cores (cuda/core/mma_gemm.cuh): the tile of B interleaves 8 rows of w_gate with 8 of
// w_up, so the 8-column accumulator tiles alternate between gate and up, and both values of a feature are in one thread.  The
// weights in memory are not reordered; x is read once for both; neither product leaves the registers.
#include "cuda/core/activation.cuh"
#include "cuda/core/mma_gemm.cuh"
#include "ops/gemm_swiglu.hpp"

namespace assay::ROOM(gemm_swiglu, mma_tiled) {

using namespace mma_gemm;

inline constexpr int kFfn = kN / 2;  // features per tile

KERNEL(gemm_swiglu){
    .dtypes = {f16, bf16},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, kM), tile(Axis::ffn, kFfn), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .mma_terms = 8},
};

// All rows of the tile of B that a thread loads belong to one weight, since they are kRowsAtOnce apart.
static_assert(kRowsAtOnce % 16 == 0 && kTilesN % 2 == 0);

template <class T, bool kWide>
__global__ void __launch_bounds__(kThreads, kBlocksAnSm)
    gemm_swiglu_mma_tiled(Operand<T> x, Operand<T> w_gate, Operand<T> w_up, Result<T> y, std::int64_t hidden) {
  const TilePlace tile = tile_place(ceil_div(y.rows, kM), ceil_div(y.columns, kFfn));
  const std::int64_t row = tile.m * kM, column = tile.n * kFfn;
  const int mine = linear_thread() / kChunks;
  Accumulators acc;
  multiply<T, kWide>(Loader<T, kM>(x, row + mine, kRowsAtOnce),
                     Loader<T, kN>(mine / 8 % 2 == 0 ? w_gate : w_up, column + mine / 16 * 8 + mine % 8, kRowsAtOnce / 2), hidden,
                     acc, NoScale{});

  const std::int64_t first_row = row + warp_row() + lane_id() / 4;
  const std::int64_t first_column = column + warp_column() / 2 + lane_id() % 4 * 2;
#pragma unroll
  for (int i = 0; i < kTilesM; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int j = 0; j < kTilesN; j += 2) {
        const float* const gate = acc.c[i][j] + half * 2;
        const float* const up = acc.c[i][j + 1] + half * 2;
        y.store(first_row + i * 16 + half * 8, first_column + j / 2 * 8, silu(gate[0]) * up[0], silu(gate[1]) * up[1]);
      }
}

void run(const gemm_swiglu::Args& a, const Launch& l) {
  const std::int64_t tiles = ceil_div(a.y.shape[0], kM) * ceil_div(a.y.shape[1], kFfn);
  if (tiles == 0) return;
  const bool wide = a.x.rows_aligned(kAccess) && a.w_gate.rows_aligned(kAccess) && a.w_up.rows_aligned(kAccess);
  const auto go = [&]<class T, bool kWide>(Type<T>, std::bool_constant<kWide>) {
    launch(gemm_swiglu_mma_tiled<T, kWide>, {.grid = dim3(tiles), .block = dim3(kThreads), .shared_bytes = kSharedBytes},
           l.stream, operand<T>(a.x), operand<T>(a.w_gate), operand<T>(a.w_up), result<T>(a.y), a.x.shape[1]);
  };
  with_half_type(a.x.dtype, [&]<class T>(Type<T> t) { wide ? go(t, std::true_type{}) : go(t, std::false_type{}); });
}

}  // namespace assay::ROOM(gemm_swiglu, mma_tiled)
