// SPDX-License-Identifier: Apache-2.0
// FAULT: online, one warp a row: a lane that has met nothing but -inf takes exp(-inf - -inf), which is NaN, and hands it on.
// Kind: ranges
// Shows: a row with a finite element in which every 32nd column, such as 0, 32, 64, ..., is -inf.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, lane_of_minus_infinity) {

inline constexpr int kWarps = 4;

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kWarps), tile(Axis::cols, kWarp)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kWarp, .extra = 5},
                 .quotient_error = 2,
                 .rescales = {.lanes = kWarp, .extra = 5}},
};

template <class T>
__global__ void softmax_online(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x_stride,
                std::int64_t y_stride) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (row >= rows) return;
  x += row * x_stride, y += row * y_stride;
  float max = -INFINITY, sum = 0;
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) {
    const float v = to_float(ld(x + c)), larger = fmaxf(max, v);
    sum = (sum == 0 ? 0.0f : sum * expf(max - larger)) + expf(v - larger);
    max = larger;
  }
  const float all = warp_max(max);
  const float total = warp_sum(sum == 0 ? 0.0f : sum * expf(max - all)), r = 1.0f / total;
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) st(y + c, from_float<T>(expf(to_float(ld(x + c)) - all) * r));
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(softmax_online<T>, {.grid = dim3(ceil_div(rows, kWarps)), .block = dim3(kWarps * kWarp)}, l.stream, a.x.as<T>(),
           a.y.as<T>(), rows, a.x.shape[1], a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, lane_of_minus_infinity)
