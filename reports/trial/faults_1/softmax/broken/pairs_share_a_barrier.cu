// SPDX-License-Identifier: Apache-2.0
// FAULT: two warps take a row, and both pairs of a block wait at the same named barrier of 64 threads, so a warp may be let
// through by one of the other pair.
// Kind: concurrency
// Shows: any two rows: the sums of a pair's warps are read without a barrier between the two of them.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, pairs_share_a_barrier) {

inline constexpr int kPair = 2 * kWarp;

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 2), tile(Axis::cols, kPair)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kPair, .extra = 6}},
};

template <class T>
__global__ void softmax_pairs(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x_stride,
                std::int64_t y_stride) {
  const int pair = warp_id() / 2, thread = static_cast<int>(threadIdx.x) % kPair;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * 2 + pair;
  if (row >= rows) return;
  float* const maxima = shared_memory<float>() + pair * 4;
  x += row * x_stride, y += row * y_stride;
  float max = -INFINITY, sum = 0;
  for (std::int64_t c = thread; c < cols; c += kPair) max = fmaxf(max, to_float(ld(x + c)));
  max = warp_max(max);
  if (lane_id() == 0) st(maxima + warp_id() % 2, max);
  sync_named(1, kPair);
  max = fmaxf(ld(maxima), ld(maxima + 1));
  for (std::int64_t c = thread; c < cols; c += kPair) sum += expf(to_float(ld(x + c)) - max);
  sum = warp_sum(sum);
  if (lane_id() == 0) st(maxima + 2 + warp_id() % 2, sum);
  sync_named(1, kPair);
  sum = ld(maxima + 2) + ld(maxima + 3);
  for (std::int64_t c = thread; c < cols; c += kPair) st(y + c, from_float<T>(expf(to_float(ld(x + c)) - max) / sum));
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(softmax_pairs<T>, {.grid = dim3(ceil_div(rows, 2)), .block = dim3(2 * kPair), .shared_bytes = 8 * sizeof(float)},
           l.stream, a.x.as<T>(), a.y.as<T>(), rows, a.x.shape[1], a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, pairs_share_a_barrier)
