// SPDX-License-Identifier: Apache-2.0
// FAULT: packs are of 16 bytes, but the columns after the last one are counted as cols % 4, as in f32.
// Kind: offsets
// Shows: f16 or bf16, aligned rows of a length whose remainder by eight is four or more: four columns are left out.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, tail_of_four) {

inline constexpr int kWarps = 4;

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kWarps), tile(Axis::cols, kWarp)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kWarp, .extra = 5},
                 .quotient_error = 2,
                 .rescales = {.lanes = kWarp, .extra = 5}},
};

template <class T, int N>
__global__ void softmax_packs(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x_stride,
                std::int64_t y_stride) {
  using Pack = Vec<T, N>;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (row >= rows) return;
  x += row * x_stride, y += row * y_stride;
  const std::int64_t packs = cols / N, end = packs * N + (N > 1 ? cols % 4 : 0);
  float max = -INFINITY, sum = 0;
  for (std::int64_t p = lane_id(); p < packs; p += kWarp) {
    const Pack v = ld(reinterpret_cast<const Pack*>(x) + p);
#pragma unroll
    for (int j = 0; j < N; ++j) max = fmaxf(max, to_float(v[j]));
  }
  for (std::int64_t c = packs * N + lane_id(); c < end; c += kWarp) max = fmaxf(max, to_float(ld(x + c)));
  max = warp_max(max);
  for (std::int64_t p = lane_id(); p < packs; p += kWarp) {
    const Pack v = ld(reinterpret_cast<const Pack*>(x) + p);
#pragma unroll
    for (int j = 0; j < N; ++j) sum += expf(to_float(v[j]) - max);
  }
  for (std::int64_t c = packs * N + lane_id(); c < end; c += kWarp) sum += expf(to_float(ld(x + c)) - max);
  sum = warp_sum(sum);
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) st(y + c, from_float<T>(expf(to_float(ld(x + c)) - max) / sum));
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(a.x.rows_aligned(16) ? softmax_packs<T, 16 / sizeof(T)> : softmax_packs<T, 1>,
           {.grid = dim3(ceil_div(rows, kWarps)), .block = dim3(kWarps * kWarp)}, l.stream, a.x.as<T>(), a.y.as<T>(), rows,
           a.x.shape[1], a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, tail_of_four)
