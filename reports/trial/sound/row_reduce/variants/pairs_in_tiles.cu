// SPDX-License-Identifier: Apache-2.0
// A row a block, by tiles of 512 columns: four neighbours a thread in pairs, then the block's tree, then tile after tile.  So 512
// lanes, and nine levels (two, five and two) that join them.
#include "cuda/core/fold.cuh"
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, pairs_in_tiles) {

inline constexpr int kThreads = 128, kEach = 4, kTile = kThreads * kEach;

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kTile)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kTile, .extra = 9}},
};

// The sum of f over the row, in every thread.
template <class T, class F>
__device__ float total(const T* x, std::int64_t cols, F f) {
  float sum = 0;
  for (std::int64_t first = 0; first < cols; first += kTile) {
    const std::int64_t mine = first + kEach * static_cast<std::int64_t>(threadIdx.x);
    float v[kEach];
#pragma unroll
    for (int j = 0; j < kEach; ++j) v[j] = mine + j < cols ? f(to_float(ld(x + mine + j))) : 0.0f;
    sum += block_sum((v[0] + v[1]) + (v[2] + v[3]), shared_memory<float>());
  }
  return sum;
}

// The largest, NaN if there is one, in every thread.
template <class T>
__device__ float largest(const T* x, std::int64_t cols) {
  float* const of_warps = shared_memory<float>();
  float max = -INFINITY;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) max = fold::larger(max, to_float(ld(x + c)));
  for (int offset = kWarp / 2; offset > 0; offset /= 2) max = fold::larger(max, shuffle_xor(max, offset));
  if (lane_id() == 0) st(of_warps + warp_id(), max);
  sync_block();
  for (int w = 0; w < kThreads / kWarp; ++w) max = fold::larger(max, ld(of_warps + w));
  sync_block();
  return max;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    row_reduce_pairs_in_tiles(const T* x, float* y, std::int64_t cols, std::int64_t stride, Reduction what) {
  x += blockIdx.x * stride;
  float result = 0;
  if (what == Reduction::sum) {
    result = total(x, cols, [](float v) { return v; });
  } else if (what == Reduction::sum_of_squares) {
    result = total(x, cols, [](float v) { return v * v; });
  } else {
    const float max = largest(x, cols);
    result = max;
    if (what == Reduction::logsumexp && fabsf(max) < INFINITY)
      result = max + logf(total(x, cols, [max](float v) { return expf(v - max); }));
  }
  if (threadIdx.x == 0) st(y + blockIdx.x, result);
}

void run(const row_reduce::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(row_reduce_pairs_in_tiles<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(float)}, l.stream, a.x.as<T>(),
           a.y.as<float>(), a.x.shape[1], a.x.stride[0], a.what);
  });
}

}  // namespace assay::ROOM(row_reduce, pairs_in_tiles)
