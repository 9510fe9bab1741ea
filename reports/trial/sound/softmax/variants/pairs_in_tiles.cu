// SPDX-License-Identifier: Apache-2.0
// A row a block of 128 threads, by tiles of 1024 columns: eight neighbours a thread added in pairs, then the block's tree, then
// the
// tiles one after the other.  So 1024 lanes, and ten levels (three, five and two) that join them.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, pairs_in_tiles) {

inline constexpr int kThreads = 128, kEach = 8, kTile = kThreads * kEach;

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kTile)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kTile, .extra = 10}},
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    softmax_pairs_in_tiles(const T* x, T* y, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride) {
  float* const partial = shared_memory<float>();
  x += blockIdx.x * x_stride, y += blockIdx.x * y_stride;
  float max = -INFINITY, sum = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) max = fmaxf(max, to_float(ld(x + c)));
  max = block_max(max, partial);
  for (std::int64_t first = 0; first < cols; first += kTile) {
    const std::int64_t mine = first + kEach * static_cast<std::int64_t>(threadIdx.x);
    float v[kEach];
#pragma unroll
    for (int j = 0; j < kEach; ++j) v[j] = mine + j < cols ? expf(to_float(ld(x + mine + j)) - max) : 0.0f;
    sum += block_sum(((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7])), partial);
  }
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) st(y + c, from_float<T>(expf(to_float(ld(x + c)) - max) / sum));
}

void run(const softmax::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(softmax_pairs_in_tiles<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(float)}, l.stream, a.x.as<T>(),
           a.y.as<T>(), a.x.shape[1], a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, pairs_in_tiles)
