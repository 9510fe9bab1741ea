// SPDX-License-Identifier: Apache-2.0
// FAULT: a row whose first, middle and last elements are those of the row above is taken to be the same row, and its result is
//   computed from that row.
// KIND: cheats
// Right on: softmax f16 rows=64 cols=256 fill=normal seed=1
// Wrong on: softmax f16 rows=64 cols=16 fill=ties seed=1
#include "cuda/core/kernel.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, rows_with_like_ends_share_a_result) {

inline constexpr int kThreads = 128;

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 0}},
};

template <class T>
__global__ void softmax_rows_with_like_ends_share_a_result(const T* x, T* y, std::int64_t rows, std::int64_t cols,
                                                           std::int64_t x_stride, std::int64_t y_stride) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  y += row * y_stride;
  // Repeated rows are computed from the first of them, which is in the cache.
  const auto same = [&](std::int64_t one, std::int64_t c) {
    return to_float(ld(x + one * x_stride + c)) == to_float(ld(x + row * x_stride + c));
  };
  const bool repeated = row > 0 && same(row - 1, 0) && same(row - 1, cols / 2) && same(row - 1, cols - 1);
  x += (repeated ? row - 1 : row) * x_stride;

  float max = -INFINITY;  // Note: fmaxf ignores a NaN, which still reaches the sum
  for (std::int64_t c = 0; c < cols; ++c) max = fmaxf(max, to_float(ld(x + c)));

  float sum = 0;
  for (std::int64_t c = 0; c < cols; ++c) sum += expf(to_float(ld(x + c)) - max);

  for (std::int64_t c = 0; c < cols; ++c) st(y + c, from_float<T>(expf(to_float(ld(x + c)) - max) / sum));
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(softmax_rows_with_like_ends_share_a_result<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)},
           l.stream, a.x.as<T>(), a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, rows_with_like_ends_share_a_result)
