// SPDX-License-Identifier: Apache-2.0
// A row a warp; each lane sums with Kahan's compensation, which leaves two roundings whatever the number of terms: more lanes
// than a
// row can have columns and one addition, then the five of the warp.  exp is taken of differences from the row's maximum.
#include "cuda/core/fold.cuh"
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, compensated) {

inline constexpr int kRows = 4;

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kRows), tile(Axis::cols, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = std::int64_t{1} << 40, .extra = 1 + 5}},
};

struct Kahan {
  float sum = 0, lost = 0;
  // Note: of an infinite sum nothing is known to be lost; inf - inf would make it NaN.
  __device__ void add(float v) {
    const float term = v - lost, larger = sum + term;
    lost = fabsf(larger) < INFINITY ? (larger - sum) - term : 0.0f;
    sum = larger;
  }
};

template <class T>
__global__ void row_reduce_compensated(const T* x, float* y, std::int64_t rows, std::int64_t cols, std::int64_t stride,
                                       Reduction what) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + warp_id();
  if (row >= rows) return;
  x += row * stride;
  const int lane = lane_id();
  Kahan total;
  float result = 0;
  if (what == Reduction::sum || what == Reduction::sum_of_squares) {
    for (std::int64_t c = lane; c < cols; c += kWarp) {
      const float v = to_float(ld(x + c));
      total.add(what == Reduction::sum ? v : v * v);
    }
    result = warp_sum(total.sum);
  } else {
    float max = -INFINITY;
    for (std::int64_t c = lane; c < cols; c += kWarp) max = fold::larger(max, to_float(ld(x + c)));
    for (int offset = kWarp / 2; offset > 0; offset /= 2) max = fold::larger(max, shuffle_xor(max, offset));
    result = max;
    if (what == Reduction::logsumexp && fabsf(max) < INFINITY) {
      for (std::int64_t c = lane; c < cols; c += kWarp) total.add(expf(to_float(ld(x + c)) - max));
      result = max + logf(warp_sum(total.sum));
    }
  }
  if (lane == 0) st(y + row, result);
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(row_reduce_compensated<T>, {.grid = dim3(ceil_div(rows, kRows)), .block = dim3(kRows * kWarp)}, l.stream, a.x.as<T>(),
           a.y.as<float>(), rows, a.x.shape[1], a.x.stride[0], a.what);
  });
}

}  // namespace assay::ROOM(row_reduce, compensated)
