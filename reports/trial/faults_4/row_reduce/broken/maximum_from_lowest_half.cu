// SPDX-License-Identifier: Apache-2.0
// FAULT: starts the maximum at -65504, the lowest f16. Visible with what=max or logsumexp where all of a row is below it: f32
// and bf16 rows of -1e6, f16 rows of -inf, and rows without columns.
// KIND: ranges
#include "cuda/core/kernel.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, maximum_from_lowest_half) {

inline constexpr int kThreads = 128;
inline constexpr std::int64_t kMostCols = 1 << 22;

Legality supports(const row_reduce::Args& a) {
  if (a.x.shape[1] > kMostCols) return Legality::no("a row exceeds 2^22 columns: a serial f32 sum of more has few digits left");
  return Legality::yes();
}

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .supports = supports,
};

template <class T>
__global__ void row_reduce_naive(const T* x, float* y, std::int64_t rows, std::int64_t cols, std::int64_t stride,
                                 Reduction what) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= rows) return;
  x += row * stride;

  float sum = 0, max = -65504.0f;
  for (std::int64_t c = 0; c < cols; ++c) {
    const float v = to_float(ld(x + c));
    if (what == Reduction::sum) sum += v;
    else if (what == Reduction::sum_of_squares) sum += v * v;
    else if (v > max || v != v) max = v;
    if (max != max) break;  // a NaN
  }
  if (what == Reduction::logsumexp && fabsf(max) < INFINITY) {
    for (std::int64_t c = 0; c < cols; ++c) sum += expf(to_float(ld(x + c)) - max);
    max += logf(sum);
  }
  st(y + row, what == Reduction::sum || what == Reduction::sum_of_squares ? sum : max);
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(row_reduce_naive<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           a.y.as<float>(), rows, a.x.shape[1], a.x.stride[0], a.what);
  });
}

}  // namespace assay::ROOM(row_reduce, maximum_from_lowest_half)
