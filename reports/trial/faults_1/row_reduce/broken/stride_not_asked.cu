// SPDX-License-Identifier: Apache-2.0
// FAULT: one warp a row reads packs of 16 bytes where the tensor begins aligned and the columns are whole packs; the stride of
// the rows is not asked.
// Kind: layout
// Shows: an aligned x of whole packs with a stride that is no multiple of 16 bytes, two rows or more.
#include "cuda/core/fold.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, stride_not_asked) {

inline constexpr int kWarps = 4;

template <class T, class Fold, int N>
__device__ void reduce_row(const T* x, float* y, std::int64_t cols) {
  Fold f;
  fold::take_packs<1, N>(f, x, lane_id(), cols / N, kWarp);
  f = fold::join_warp(f);
  if (lane_id() == 0) st(y, f.result());
}

template <class T, int N>
__global__ void row_reduce_packs(const T* x, float* y, std::int64_t rows, std::int64_t cols, std::int64_t stride,
                                 Reduction what) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (row >= rows) return;
  x += row * stride, y += row;
  if (what == Reduction::sum) reduce_row<T, fold::Sum, N>(x, y, cols);
  else if (what == Reduction::max) reduce_row<T, fold::Max, N>(x, y, cols);
  else if (what == Reduction::logsumexp) reduce_row<T, fold::LogSumExp, N>(x, y, cols);
  else reduce_row<T, fold::SumOfSquares, N>(x, y, cols);
}

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kWarps), tile(Axis::cols, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}, .rescales = {.lanes = kWarp, .extra = 5}},
};

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    constexpr int kWide = 16 / sizeof(T);
    const bool wide = reinterpret_cast<std::uintptr_t>(a.x.data) % 16 == 0 && cols % kWide == 0;
    launch(wide ? row_reduce_packs<T, kWide> : row_reduce_packs<T, 1>,
           {.grid = dim3(ceil_div(rows, kWarps)), .block = dim3(kWarps * kWarp)}, l.stream, a.x.as<T>(), a.y.as<float>(), rows,
           cols, a.x.stride[0], a.what);
  });
}

}  // namespace assay::ROOM(row_reduce, stride_not_asked)
