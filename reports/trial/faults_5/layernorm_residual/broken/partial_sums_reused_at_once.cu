// SPDX-License-Identifier: Apache-2.0
// FAULT: the block's partial sums of squares overwrite those of the mean, which a slow warp may still read, since the barrier
//   after a sum is missing; wrong in rows of more than 1024 columns, whose block has several warps.
// KIND: concurrency
// Right on: layernorm_residual f16 rows=64 cols=256 fill=normal seed=1
// Wrong on: layernorm_residual f16 rows=4 cols=4096 fill=normal seed=1
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/layernorm_residual.hpp"

namespace assay::ROOM(layernorm_residual, partial_sums_reused_at_once) {

inline constexpr int kMostThreads = 512, kEach = 32;  // columns a thread, up to the largest block

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kEach* kWarp)},
    // A thread adds 32 columns, or a 512th of the row, and 10 additions join the block.
    .numerics = {.accumulate = f32, .chain = {.lanes = kMostThreads, .extra = kEach + 10}},
};

// As block_sum, one barrier fewer.
__device__ inline float sum_of_block(float v, float* partial) {
  const int warps = static_cast<int>(blockDim.x) / kWarp;
  v = warp_sum(v);
  if (lane_id() == 0) st(partial + warp_id(), v);
  sync_block();
  return warp_sum(lane_id() < warps ? ld(partial + lane_id()) : 0.0f);
}

template <class T>
__global__ void __launch_bounds__(kMostThreads)
    layernorm_residual_row(const T* x, const T* residual, const T* gamma, const T* beta, T* y, std::int64_t cols,
                           std::int64_t x_stride, std::int64_t residual_stride, std::int64_t y_stride, float epsilon) {
  const std::int64_t row = blockIdx.x, first = threadIdx.x, step = blockDim.x;
  x += row * x_stride, residual += row * residual_stride, y += row * y_stride;
  float* const partial = shared_memory<float>();

  float sum = 0;
  for (std::int64_t c = first; c < cols; c += step) sum += to_float(ld(x + c));
  const float mean = sum_of_block(sum, partial) / static_cast<float>(cols);

  float squares = 0;
  for (std::int64_t c = first; c < cols; c += step) {
    const float d = to_float(ld(x + c)) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(sum_of_block(squares, partial) / static_cast<float>(cols) + epsilon);

  for (std::int64_t c = first; c < cols; c += step) {
    const float normalised = fmaf((to_float(ld(x + c)) - mean) * r, to_float(ld(gamma + c)), to_float(ld(beta + c)));
    st(y + c, from_float<T>(normalised + to_float(ld(residual + c))));
  }
}

void run(const layernorm_residual::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  const std::int64_t warps = std::clamp<std::int64_t>(ceil_div(cols, kEach * kWarp), 1, kMostThreads / kWarp);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_residual_row<T>, {.grid = dim3(rows), .block = dim3(kWarp * warps), .shared_bytes = kWarp * sizeof(float)},
           l.stream, a.x.as<T>(), a.residual.as<T>(), a.gamma.as<T>(), a.beta.as<T>(), a.y.as<T>(), cols, a.x.stride[0],
           a.residual.stride[0], a.y.stride[0], static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(layernorm_residual, partial_sums_reused_at_once)
