// SPDX-License-Identifier: Apache-2.0
// Tensor cores over 128 x 128 tiles of y (cuda/core/mma_gemm.cuh); bias and GELU are applied to the accumulators in a short
// loop through shared memory (mma_epilogue.cuh), so z never leaves the chip and is never rounded.
#include "cuda/core/activation.cuh"
#include "cuda/core/mma_epilogue.cuh"
#include "ops/gelu_linear.hpp"

namespace assay::ROOM(gelu_linear, mma_tiled) {

using namespace mma_gemm;

KERNEL(gelu_linear){
    .dtypes = {f16, bf16},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, kM), tile(Axis::out, kN), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .mma_terms = 8},
};

template <class T, bool kWide, Activation kForm>
__global__ void __launch_bounds__(kThreads, kBlocksAnSm)
    gelu_linear_mma_tiled(Operand<T> x, Operand<T> weight, const T* bias, Result<T> y, std::int64_t hidden, bool wide_stores) {
  const TilePlace tile = tile_place(ceil_div(y.rows, kM), ceil_div(y.columns, kN));
  const std::int64_t row = tile.m * kM, column = tile.n * kN, mine = linear_thread() / kChunks;
  Accumulators acc;
  multiply<T, kWide>(Loader<T, kM>(x, row + mine, kRowsAtOnce), Loader<T, kN>(weight, column + mine, kRowsAtOnce), hidden, acc,
                     NoScale{});

  // Epilogue: 8 columns of a row at a time.
  const std::int64_t first = column + chunk_column();
  float offset[kChunk];
#pragma unroll
  for (int j = 0; j < kChunk; ++j) offset[j] = bias != nullptr && first + j < y.columns ? to_float(ld(bias + first + j)) : 0.0f;
  for_chunks(acc, [&](int r, float(&z)[kChunk]) {
#pragma unroll
    for (int j = 0; j < kChunk; ++j) z[j] = activate<kForm>(bias != nullptr ? z[j] + offset[j] : z[j]);
    store_chunk(y, row + r, first, z, wide_stores);
  });
}

void run(const gelu_linear::Args& a, const Launch& l) {
  const std::int64_t tiles = ceil_div(a.y.shape[0], kM) * ceil_div(a.y.shape[1], kN);
  if (tiles == 0) return;
  const bool wide = a.x.rows_aligned(kAccess) && a.weight.rows_aligned(kAccess);
  const auto go = [&]<class T, bool kWide>(Type<T>, std::bool_constant<kWide>) {
    with_gelu(a.form, [&]<Activation kForm>(std::integral_constant<Activation, kForm>) {
      launch(gelu_linear_mma_tiled<T, kWide, kForm>, {.grid = dim3(tiles), .block = dim3(kThreads), .shared_bytes = kSharedBytes},
             l.stream, operand<T>(a.x), operand<T>(a.weight), a.bias.as<T>(), result<T>(a.y), a.x.shape[1],
             a.y.rows_aligned(kAccess));
    });
  };
  with_half_type(a.x.dtype, [&]<class T>(Type<T> t) { wide ? go(t, std::true_type{}) : go(t, std::false_type{}); });
}

}  // namespace assay::ROOM(gelu_linear, mma_tiled)
