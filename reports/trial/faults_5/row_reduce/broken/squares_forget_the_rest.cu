// SPDX-License-Identifier: Apache-2.0
// FAULT: the overload for a single element, written for sums, adds the element and not its square; sums of squares meet it
//   after the last whole pack of a row.
// KIND: combinations
// Right on: row_reduce f16 rows=64 cols=256 what=sum_of_squares fill=normal seed=1
// Wrong on: row_reduce f16 rows=1 cols=257 what=sum_of_squares fill=normal seed=1
#include "cuda/row_reduce/row.cuh"

namespace assay::ROOM(row_reduce, squares_forget_the_rest) {

using namespace row_reduce_room;

inline constexpr int kRows = 4;  // warps per block

Legality supports(const row_reduce::Args& a) { return short_shares(a, kWarp); }

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kRows), tile_bytes(Axis::cols, 16 * kWarp)},
    // A lane adds at most a pack of 8 more than its share, and one of the tail; 5 joins.
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 14}, .rescales = {.lanes = kWarp, .extra = 14}},
    .supports = supports,
};

template <class T, class Fold, int N>
__global__ void __launch_bounds__(kRows* kWarp)
    row_reduce_squares_forget_the_rest(const T* x, float* y, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + warp_id();
  if (row >= rows) return;
  x += row * stride;
  Fold f;
  // Whole packs, then one element per lane.
  fold::take_packs<4, N>(f, x, lane_id(), cols / N, kWarp);
  if constexpr (std::is_same_v<Fold, fold::SumOfSquares> && N > 1) {
    if (const std::int64_t c = cols / N * N + lane_id(); c < cols) f.value += to_float(ld(x + c));
  } else {
    fold::take_tail<N>(f, x, cols, lane_id());
  }
  f = fold::join_warp(f);
  if (lane_id() == 0) st(y + row, f.result());
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_all(a, [&]<class T, class Fold, int N>(Type<T>, Type<Fold>, std::integral_constant<int, N>) {
    launch(row_reduce_squares_forget_the_rest<T, Fold, N>, {.grid = dim3(ceil_div(rows, kRows)), .block = dim3(kRows * kWarp)},
           l.stream, a.x.as<T>(), a.y.as<float>(), rows, a.x.shape[1], a.x.stride[0]);
  });
}

}  // namespace assay::ROOM(row_reduce, squares_forget_the_rest)
