// SPDX-License-Identifier: Apache-2.0
// FAULT: a row of one element is returned as it is, which is right for its sum, its maximum and its logsumexp, but not for its
// sum of squares.
// Kind: combinations
// Shows: sum_of_squares of one column.
#include "cuda/core/fold.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, single_column_returned) {

inline constexpr int kWarps = 4;

template <class T, class Fold>
__device__ void reduce_row(const T* x, float* y, std::int64_t cols) {
  const int lane = lane_id();
  Fold f;
  if (cols == 1) {
    if (lane == 0) st(y, to_float(ld(x)));
    return;
  }
  fold::take_packs<4, 1>(f, x, lane, cols, kWarp);
  f = fold::join_warp(f);
  if (lane == 0) st(y, f.result());
}

template <class T>
__global__ void row_reduce_warp(const T* x, float* y, std::int64_t rows, std::int64_t cols, std::int64_t stride, Reduction what) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (row >= rows) return;
  x += row * stride, y += row;
  if (what == Reduction::sum) reduce_row<T, fold::Sum>(x, y, cols);
  else if (what == Reduction::max) reduce_row<T, fold::Max>(x, y, cols);
  else if (what == Reduction::logsumexp) reduce_row<T, fold::LogSumExp>(x, y, cols);
  else reduce_row<T, fold::SumOfSquares>(x, y, cols);
}

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kWarps), tile(Axis::cols, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}, .rescales = {.lanes = kWarp, .extra = 5}},
};

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(row_reduce_warp<T>, {.grid = dim3(ceil_div(rows, kWarps)), .block = dim3(kWarps * kWarp)}, l.stream, a.x.as<T>(),
           a.y.as<float>(), rows, a.x.shape[1], a.x.stride[0], a.what);
  });
}

}  // namespace assay::ROOM(row_reduce, single_column_returned)
