// SPDX-License-Identifier: Apache-2.0
// Tensor cores over 128 x 128 tiles of y (cuda/core/mma_gemm.cuh), the bias added to the accumulators: each tile of x and of
// the weight passes through shared memory once, with three stages of cp.async, and y is written once.
#include "cuda/core/mma_gemm.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, mma_tiled) {

using namespace mma_gemm;

KERNEL(linear){
    .dtypes = {f16, bf16},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, kM), tile(Axis::out, kN), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .mma_terms = 8},
};

template <class T, bool kWide>
__global__ void __launch_bounds__(kThreads, kBlocksAnSm)
    linear_mma_tiled(Operand<T> x, Operand<T> weight, const T* bias, Result<T> y, std::int64_t hidden) {
  const TilePlace tile = tile_place(ceil_div(y.rows, kM), ceil_div(y.columns, kN));
  const std::int64_t row = tile.m * kM, column = tile.n * kN, mine = linear_thread() / kChunks;
  Accumulators acc;
  multiply<T, kWide>(Loader<T, kM>(x, row + mine, kRowsAtOnce), Loader<T, kN>(weight, column + mine, kRowsAtOnce), hidden, acc,
                     NoScale{});
  for_pairs(acc, [&](int r, int c, float v0, float v1) {
    const std::int64_t o = column + c;
    if (bias != nullptr && o < y.columns) {
      v0 += to_float(ld(bias + o));
      if (o + 1 < y.columns) v1 += to_float(ld(bias + o + 1));
    }
    y.store(row + r, o, v0, v1);
  });
}

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t tiles = ceil_div(a.y.shape[0], kM) * ceil_div(a.y.shape[1], kN);
  if (tiles == 0) return;
  const bool wide = a.x.rows_contiguous() && a.x.rows_aligned(kAccess) && a.weight.rows_aligned(kAccess);
  const auto go = [&]<class T, bool kWide>(Type<T>, std::bool_constant<kWide>) {
    launch(linear_mma_tiled<T, kWide>, {.grid = dim3(tiles), .block = dim3(kThreads), .shared_bytes = kSharedBytes}, l.stream,
           operand<T>(a.x), operand<T>(a.weight), a.bias.as<T>(), result<T>(a.y), a.x.shape[1]);
  };
  with_half_type(a.x.dtype, [&]<class T>(Type<T> t) { wide ? go(t, std::true_type{}) : go(t, std::false_type{}); });
}

}  // namespace assay::ROOM(linear, mma_tiled)
