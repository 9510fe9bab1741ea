// SPDX-License-Identifier: Apache-2.0
// SOUND: partial sums of squares, roots and products in three launches, the last two dependent.  In the second a lane of each warp
// waits before sync_warp, in the third warp 0 before a named barrier of the block.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, three_steps) {

inline constexpr int kSplits = 4, kRows = 8;

std::size_t scratch(const rmsnorm::Args& a) { return static_cast<std::size_t>(a.x.shape[0]) * (kSplits + 1) * sizeof(float); }

KERNEL(rmsnorm){
    .dtypes = {f16, bf16, f32},
    .min_arch = 90,
    .tiles = {tile(Axis::rows, kRows)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 32 * kSplits, .extra = 8}},
    .workspace_bytes = scratch,
};

// A warp for each part of a row.
template <class T>
__global__ void squares(const T* x, float* parts, std::int64_t rows, std::int64_t cols, std::int64_t x_stride) {
  next_grid_may_start();
  const std::int64_t row = blockIdx.x;
  const int split = warp_id();
  float sum = 0;
  for (std::int64_t c = split * kWarp + lane_id(); c < cols; c += kSplits * kWarp) {
    const float v = to_float(ld(x + row * x_stride + c));
    sum = fmaf(v, v, sum);
  }
  sum = warp_sum(sum);
  if (lane_id() == 0) st(parts + row * kSplits + split, sum);
}

// A thread for each row.
__global__ void roots(const float* parts, float* root, std::int64_t rows, std::int64_t cols, float epsilon) {
  next_grid_may_start();
  if (lane_id() == 0) wait_for_previous_grid();
  sync_warp();
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int s = 0; s < kSplits; ++s) sum += ld(parts + row * kSplits + s);
  st(root + row, sqrtf(sum / static_cast<float>(cols) + epsilon));
}

// A warp for each row.
template <class T>
__global__ void products(const T* x, const T* gamma, const float* root, T* y, std::int64_t rows, std::int64_t cols,
                         std::int64_t x_stride, std::int64_t y_stride) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + warp_id();
  if (warp_id() == 0) wait_for_previous_grid();
  sync_named(1, kRows * kWarp);
  if (row >= rows) return;
  const float r = ld(root + row);
  for (std::int64_t c = lane_id(); c < cols; c += kWarp)
    st(y + row * y_stride + c, from_float<T>(to_float(ld(x + row * x_stride + c)) / r * to_float(ld(gamma + c))));
}

void run(const rmsnorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  float *parts = static_cast<float*>(l.workspace), *root = parts + rows * kSplits;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(squares<T>, {.grid = dim3(static_cast<unsigned>(rows)), .block = dim3(kSplits * kWarp)}, l.stream, a.x.as<T>(), parts, rows,
           cols, a.x.stride[0]);
    launch(roots, {.grid = dim3(static_cast<unsigned>(ceil_div(rows, 128))), .block = dim3(128), .dependent = true}, l.stream, parts,
           root, rows, cols, static_cast<float>(a.epsilon));
    launch(products<T>, {.grid = dim3(static_cast<unsigned>(ceil_div(rows, kRows))), .block = dim3(kRows * kWarp), .dependent = true},
           l.stream, a.x.as<T>(), a.gamma.as<T>(), root, a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(rmsnorm, three_steps)
