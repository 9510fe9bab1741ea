// SPDX-License-Identifier: Apache-2.0
// Eight lanes a row, sixteen rows a block: each lane keeps a maximum and a sum as it goes, rescaled whenever its maximum grows,
// and
// three exchanges join the eight, the sums rescaled once more before them.
#include "cuda/core/kernel.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, eight_lanes_a_row) {

inline constexpr int kThreads = 128, kLanes = 8;

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads / kLanes), tile(Axis::cols, kLanes)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kLanes, .extra = 3},
                 .rescales = {.lanes = kLanes, .extra = 1}},
};

// Note: all lanes of a warp take part in the exchanges, those of rows beyond the last too.
template <class T>
__global__ void softmax_eight_lanes_a_row(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x_stride,
                                          std::int64_t y_stride) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kLanes;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * (kThreads / kLanes) + thread / kLanes;
  const bool inside = row < rows;
  x += inside ? row * x_stride : 0, y += inside ? row * y_stride : 0;
  const std::int64_t end = inside ? cols : 0;
  float max = -INFINITY, sum = 0;
  for (std::int64_t c = lane; c < end; c += kLanes) {
    const float v = to_float(ld(x + c));
    if (v > max) {
      sum = sum * expf(max - v) + expf(v - v);  // of +inf a NaN, as in the formula
      max = v;
    } else if (!(v == -INFINITY)) {
      sum += expf(v - max);
    }
  }
  float all = max;
  for (int offset = kLanes / 2; offset > 0; offset /= 2) all = fmaxf(all, shuffle_xor(all, offset));
  // A lane without a finite term has a sum of zero, unless it met a NaN.
  if (max != all) sum *= expf(max - all);
  for (int offset = kLanes / 2; offset > 0; offset /= 2) sum += shuffle_xor(sum, offset);
  for (std::int64_t c = lane; c < end; c += kLanes) st(y + c, from_float<T>(expf(to_float(ld(x + c)) - all) / sum));
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(softmax_eight_lanes_a_row<T>, {.grid = dim3(ceil_div(rows, kThreads / kLanes)), .block = dim3(kThreads)}, l.stream,
           a.x.as<T>(), a.y.as<T>(), rows, a.x.shape[1], a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, eight_lanes_a_row)
