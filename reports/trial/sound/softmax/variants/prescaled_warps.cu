// SPDX-License-Identifier: Apache-2.0
// A row a warp, three rows a block; scores are multiplied by log2(e) and the maximum's multiple taken off in one FMA, for the sum
// and again for the output.  From |max| = 2048 on the difference is taken first, since the rounding of max log2(e) is an
// exponent.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, prescaled_warps) {

inline constexpr int kRows = 3;

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kRows), tile(Axis::cols, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}, .fused_exponent = true},
};

__device__ inline float term(float x, float max, float base) {
  constexpr float kLog2E = 1.4426950408889634f;
  return fabsf(max) < 2048.0f ? exp2f(fmaf(x, kLog2E, -base)) : exp2f((x - max) * kLog2E);
}

template <class T>
__global__ void softmax_prescaled_warps(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x_stride,
                                        std::int64_t y_stride) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + warp_id();
  if (row >= rows) return;
  x += row * x_stride, y += row * y_stride;
  float max = -INFINITY, sum = 0;
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) max = fmaxf(max, to_float(ld(x + c)));
  max = warp_max(max);
  const float base = max * 1.4426950408889634f;
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) sum += term(to_float(ld(x + c)), max, base);
  const float r = 1.0f / warp_sum(sum);
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) st(y + c, from_float<T>(term(to_float(ld(x + c)), max, base) * r));
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(softmax_prescaled_warps<T>, {.grid = dim3(ceil_div(rows, kRows)), .block = dim3(kRows * kWarp)}, l.stream,
           a.x.as<T>(), a.y.as<T>(), rows, a.x.shape[1], a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, prescaled_warps)
