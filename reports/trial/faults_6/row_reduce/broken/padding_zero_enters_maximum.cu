// SPDX-License-Identifier: Apache-2.0
// FAULT (ranges): where 4 does not divide the columns the zeros that pad the last pack enter the maximum.
// Right on: row_reduce f16 rows=64 cols=256 what=max fill=normal seed=2
#include "cuda/core/kernel.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, padding_zero_enters_maximum) {

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
__global__ void row_reduce_padding_zero_enters_maximum(const T* x, float* y, std::int64_t rows, std::int64_t cols,
                                                       std::int64_t stride, Reduction what) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= rows) return;
  x += row * stride;

  float sum = 0, max = -INFINITY;
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
  if (what == Reduction::max && cols % 4 != 0 && max < 0) max = 0;
  st(y + row, what == Reduction::sum || what == Reduction::sum_of_squares ? sum : max);
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(row_reduce_padding_zero_enters_maximum<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream,
           a.x.as<T>(), a.y.as<float>(), rows, a.x.shape[1], a.x.stride[0], a.what);
  });
}

}  // namespace assay::ROOM(row_reduce, padding_zero_enters_maximum)
