// SPDX-License-Identifier: Apache-2.0
// FAULT: the elements before the first multiple of 16 bytes are added one by one without a look at the row length, so a short
//   unaligned row takes in what follows it.
// KIND: offsets
// Right on: row_reduce f16 rows=64 cols=256 fill=normal seed=1
// Wrong on: row_reduce f16 rows=4 cols=3 layout=offset4 fill=normal seed=1
#include "cuda/row_reduce/row.cuh"

namespace assay::ROOM(row_reduce, first_elements_longer_than_row) {

using namespace row_reduce_room;

inline constexpr int kRows = 4;  // warps per block

Legality supports(const row_reduce::Args& a) { return short_shares(a, kWarp); }

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kRows), tile_bytes(Axis::cols, 16 * kWarp)},
    // A lane adds at most a pack of 8 more than its share, and one at each end; 5 joins.
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 15}, .rescales = {.lanes = kWarp, .extra = 15}},
    .supports = supports,
};

template <class T, class Fold>
__device__ inline void take_one(Fold& f, const T* x) {
  const float v[1] = {to_float(ld(x))};
  f.add(v);
}

// The elements before the first aligned one, whole packs, the rest.
template <class T, class Fold>
__global__ void __launch_bounds__(kRows* kWarp)
    row_reduce_peeled(const T* x, float* y, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  constexpr int N = 16 / sizeof(T);
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + warp_id();
  if (row >= rows) return;
  x += row * stride;
  const int past = static_cast<int>(reinterpret_cast<std::uintptr_t>(x) / sizeof(T) % N), before = (N - past) % N;
  Fold f;
  if (cols > 0 && lane_id() < before) take_one(f, x + lane_id());
  if (cols > before) {
    fold::take_packs<4, N>(f, x + before, lane_id(), (cols - before) / N, kWarp);
    fold::take_tail<N>(f, x + before, cols - before, lane_id());
  }
  f = fold::join_warp(f);
  if (lane_id() == 0) st(y + row, f.result());
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    with_fold(a.what, [&]<class Fold>(Type<Fold>) {
      launch(row_reduce_peeled<T, Fold>, {.grid = dim3(ceil_div(rows, kRows)), .block = dim3(kRows * kWarp)}, l.stream,
             a.x.as<T>(), a.y.as<float>(), rows, a.x.shape[1], a.x.stride[0]);
    });
  });
}

}  // namespace assay::ROOM(row_reduce, first_elements_longer_than_row)
