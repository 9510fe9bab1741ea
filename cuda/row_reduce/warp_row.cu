// SPDX-License-Identifier: Apache-2.0
// One warp per row: each lane reads 16-byte packs, up to four in flight, then shuffles join the lanes, without shared memory or
// barrier.  logsumexp is online, in one pass.  Falls back to single elements where rows are not 16-byte aligned.
#include "cuda/row_reduce/row.cuh"

namespace assay::ROOM(row_reduce, warp_row) {

using namespace row_reduce_room;

inline constexpr int kRows = 4;  // warps per block

Legality supports(const row_reduce::Args& a) { return short_shares(a, kWarp); }

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kRows), tile_bytes(Axis::cols, 16 * kWarp)},
    // A lane adds at most a pack of 8 more than its share, and one of the tail; 5 joins.
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kWarp, .extra = 14},
                 .flushes_subnormals = true,
                 .rescales = {.lanes = kWarp, .extra = 14}},
    .supports = supports,
};

// Packs in flight of a lane.  Note: with four of 8 elements each, logsumexp would take more than the 32 registers with which all
// warps of a multiprocessor are at work.
template <class Fold, int N>
inline constexpr int kInFlight = N == 8 && std::is_same_v<Fold, fold::LogSumExp> ? 2 : 4;

template <class T, class Fold, int N>
__global__ void __launch_bounds__(kRows* kWarp, 16)
    row_reduce_warp_row(const T* x, float* y, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + warp_id();
  if (row >= rows) return;
  x += row * stride;
  Fold f;
  fold::take_packs<kInFlight<Fold, N>, N>(f, x, lane_id(), cols / N, kWarp);
  fold::take_tail<N>(f, x, cols, lane_id());
  f = fold::join_warp(f);
  if (lane_id() == 0) st(y + row, f.result());
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_all(a, [&]<class T, class Fold, int N>(Type<T>, Type<Fold>, std::integral_constant<int, N>) {
    launch(row_reduce_warp_row<T, Fold, N>, {.grid = dim3(ceil_div(rows, kRows)), .block = dim3(kRows * kWarp)}, l.stream,
           a.x.as<T>(), a.y.as<float>(), rows, a.x.shape[1], a.x.stride[0]);
  });
}

}  // namespace assay::ROOM(row_reduce, warp_row)
