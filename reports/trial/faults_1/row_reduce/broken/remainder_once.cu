// SPDX-License-Identifier: Apache-2.0
// FAULT: a lane takes four elements at a time, and of what is left after that one element, where up to three are left.
// Kind: offsets
// Shows: one warp a row, cols whose remainder by 128 exceeds 32.
#include "cuda/core/fold.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, remainder_once) {

inline constexpr int kWarps = 4;

template <class T, class Fold>
__device__ void reduce_row(const T* x, float* y, std::int64_t cols) {
  const int lane = lane_id();
  Fold f;
  std::int64_t c = lane;
  for (; c + 3 * kWarp < cols; c += 4 * kWarp)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float v[1] = {to_float(ld(x + c + j * kWarp))};
      f.add(v);
    }
  if (c < cols) {
    const float v[1] = {to_float(ld(x + c))};
    f.add(v);
  }
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

}  // namespace assay::ROOM(row_reduce, remainder_once)
