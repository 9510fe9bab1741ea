// SPDX-License-Identifier: Apache-2.0
// Two products on tensor cores (cuda/core/mma_gemm.cuh): bias and GELU are applied to the accumulators of the first, so z never
// leaves the chip; h goes to workspace, rounded to the dtype of the second product.
#include "cuda/core/activation.cuh"
#include "cuda/core/mma_epilogue.cuh"
#include "cuda/core/product.cuh"
#include "ops/ffn_gelu.hpp"

namespace assay::ROOM(ffn_gelu, mma_tiled) {

using namespace mma_gemm;

KERNEL(ffn_gelu){
    .dtypes = {f16, bf16},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, kM), tile(Axis::ffn, kK), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .mma_terms = 8, .stores = "h"},
    .workspace_bytes = [](const ffn_gelu::Args& a) { return product::workspace_bytes(a.x.shape[0], a.w1.shape[0], a.x.dtype); },
};

template <class T, bool kWide, Activation kForm>
__global__ void __launch_bounds__(kThreads, kBlocksAnSm)
    ffn_gelu_mma_tiled(Operand<T> x, Operand<T> weight, const T* bias, Result<T> h, std::int64_t hidden) {
  const TilePlace tile = tile_place(ceil_div(h.rows, kM), ceil_div(h.columns, kN));
  const std::int64_t row = tile.m * kM, column = tile.n * kN, mine = linear_thread() / kChunks;
  Accumulators acc;
  multiply<T, kWide>(Loader<T, kM>(x, row + mine, kRowsAtOnce), Loader<T, kN>(weight, column + mine, kRowsAtOnce), hidden, acc,
                     NoScale{});

  // Epilogue: 8 columns of a row at a time.
  const std::int64_t first = column + chunk_column();
  float offset[kChunk];
#pragma unroll
  for (int j = 0; j < kChunk; ++j) offset[j] = bias != nullptr && first + j < h.columns ? to_float(ld(bias + first + j)) : 0.0f;
  for_chunks(acc, [&](int r, float(&z)[kChunk]) {
#pragma unroll
    for (int j = 0; j < kChunk; ++j) z[j] = activate<kForm>(bias != nullptr ? z[j] + offset[j] : z[j]);
    store_chunk(h, row + r, first, z, true);
  });
}

void run(const ffn_gelu::Args& a, const Launch& l) {
  const std::int64_t tokens = a.x.shape[0], ffn = a.w1.shape[0], tiles = ceil_div(tokens, kM) * ceil_div(ffn, kN);
  if (tiles == 0) return;
  const Tensor h = product::in_workspace(l.workspace, a.x.dtype, tokens, ffn);
  const bool wide = a.x.rows_aligned(kAccess) && a.w1.rows_aligned(kAccess);
  const auto go = [&]<class T, bool kWide>(Type<T>, std::bool_constant<kWide>) {
    with_gelu(a.form, [&]<Activation kForm>(std::integral_constant<Activation, kForm>) {
      launch(ffn_gelu_mma_tiled<T, kWide, kForm>, {.grid = dim3(tiles), .block = dim3(kThreads), .shared_bytes = kSharedBytes},
             l.stream, operand<T>(a.x), operand<T>(a.w1), a.b1.as<T>(), result<T>(h), a.x.shape[1]);
    });
  };
  with_half_type(a.x.dtype, [&]<class T>(Type<T> t) { wide ? go(t, std::true_type{}) : go(t, std::false_type{}); });
  product::run(h, a.w2, a.b2, a.y, l.stream);
}

}  // namespace assay::ROOM(ffn_gelu, mma_tiled)
