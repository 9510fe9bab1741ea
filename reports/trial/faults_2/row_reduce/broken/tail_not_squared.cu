// SPDX-License-Identifier: Apache-2.0
// FAULT: the elements after the last pack are added by one piece of code for all kinds of sum, which does not square them.
// Kind: combinations
// Shows: what=sum_of_squares, aligned rows, and cols not a multiple of a pack of 16 bytes.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, tail_not_squared) {

inline constexpr int kWarps = 4;

template <class Fold>
__device__ void add_one(Fold& f, float v) {
  if constexpr (requires { f.sum; } || std::is_same_v<Fold, fold::Max>) {
    const float one[1] = {v};
    f.add(one);
  } else {
    f.value += v;
  }
}

template <class Fold, int N, class T>
__device__ void reduce_row(const T* x, float* y, std::int64_t cols) {
  Fold f;
  fold::take_packs<2, N>(f, x, lane_id(), cols / N, kWarp);
  if (const std::int64_t c = cols / N * N + lane_id(); N > 1 && c < cols) add_one(f, to_float(ld(x + c)));
  f = fold::join_warp(f);
  if (lane_id() == 0) st(y, f.result());
}

template <class T, int N>
__global__ void rows_by_warps(const T* x, float* y, std::int64_t rows, std::int64_t cols, std::int64_t stride, Reduction what) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (row >= rows) return;
  x += row * stride, y += row;
  if (what == Reduction::sum) reduce_row<fold::Sum, N>(x, y, cols);
  else if (what == Reduction::max) reduce_row<fold::Max, N>(x, y, cols);
  else if (what == Reduction::logsumexp) reduce_row<fold::LogSumExp, N>(x, y, cols);
  else reduce_row<fold::SumOfSquares, N>(x, y, cols);
}

KERNEL(row_reduce) = {.dtypes = kEveryType,
                      .tiles = {tile(Axis::rows, kWarps), tile(Axis::cols, kWarp)},
                      .numerics = {.accumulate = f32,
                                   .chain = {.lanes = kWarp, .extra = 5 + 9},
                                   .rescales = {.lanes = kWarp, .extra = 5 + 2}}};

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    constexpr int N = 16 / sizeof(T);
    const dim3 grid(ceil_div(rows, kWarps)), block(kWarps * kWarp);
    const auto go = [&](auto kernel) {
      launch(kernel, {.grid = grid, .block = block}, l.stream, a.x.as<T>(), a.y.as<float>(), rows, a.x.shape[1], a.x.stride[0],
             a.what);
    };
    if (a.x.rows_aligned(16)) go(rows_by_warps<T, N>);
    else go(rows_by_warps<T, 1>);
  });
}

}  // namespace assay::ROOM(row_reduce, tail_not_squared)
