// SPDX-License-Identifier: Apache-2.0
// FAULT: in the online sum, an element after the last whole four raises the maximum without scaling the sum down.
// Kind: algorithm
// Shows: columns that are no multiple of four, in rows whose largest element of a lane is in the tail.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, tail_raises_maximum_only) {

template <class T>
__global__ void softmax_online_fours(Matrices<T> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * 4 + warp_id();
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;
  float max = -INFINITY, sum = 0;
  const std::int64_t whole = m.cols / 4 * 4;
  for (std::int64_t c = lane_id() * 4; c < whole; c += kWarp * 4) {
    float v[4], larger = max;
#pragma unroll
    for (int j = 0; j < 4; ++j) v[j] = to_float(ld(x + c + j)), larger = fmaxf(larger, v[j]);
    const float base = larger == -INFINITY ? 0.0f : larger;
    sum *= expf(max - base);
#pragma unroll
    for (int j = 0; j < 4; ++j) sum += expf(v[j] - base);
    max = larger;
  }
  if (const std::int64_t c = whole + lane_id(); c < m.cols) {
    const float v = to_float(ld(x + c)), larger = fmaxf(max, v);
    sum += expf(v - (larger == -INFINITY ? 0.0f : larger));
    max = larger;
  }
  const float all = warp_max(max);
  sum = warp_sum(sum * expf(max - (all == -INFINITY ? 0.0f : all)));
  for (std::int64_t c = lane_id(); c < m.cols; c += kWarp) st(y + c, from_float<T>(expf(to_float(ld(x + c)) - all) / sum));
}

KERNEL(softmax){.dtypes = kEveryType,
                .tiles = {tile(Axis::rows, 4), tile(Axis::cols, 4 * kWarp)},
                .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}, .rescales = {.lanes = kWarp, .extra = 2}}};

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(softmax_online_fours<T>, {.grid = dim3(ceil_div(rows, 4)), .block = dim3(4 * kWarp)}, l.stream,
           Matrices<T>{a.x.as<T>(), a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0]});
  });
}

}  // namespace assay::ROOM(softmax, tail_raises_maximum_only)
