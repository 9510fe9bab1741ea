// SPDX-License-Identifier: Apache-2.0
// FAULT: the number of batches of 96 columns is rounded up wrongly, and a batch of a single column is left out.
// Kind: offsets
// Shows: cols = 96 n + 1 with n > 0.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, single_column_of_batch_lost) {

inline constexpr int kEach = 3, kBatch = kEach * kWarp;

template <class T>
__global__ void softmax_in_batches(Matrices<T> m, int batches) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * 4 + warp_id();
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;
  const auto each = [&](auto&& f) {
    for (int b = 0; b < batches; ++b)
#pragma unroll
      for (int i = 0; i < kEach; ++i)
        if (const std::int64_t c = b * kBatch + i * kWarp + lane_id(); c < m.cols) f(c, to_float(ld(x + c)));
  };
  float max = -INFINITY, sum = 0;
  each([&](std::int64_t, float v) { max = fmaxf(max, v); });
  max = warp_max(max);
  each([&](std::int64_t, float v) { sum += expf(v - max); });
  sum = warp_sum(sum);
  each([&](std::int64_t c, float v) { st(y + c, from_float<T>(expf(v - max) / sum)); });
}

KERNEL(softmax){.dtypes = kEveryType,
                .tiles = {tile(Axis::rows, 4), tile(Axis::cols, kBatch)},
                .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}}};

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  const int batches = static_cast<int>(std::max<std::int64_t>(1, (cols + kBatch - 2) / kBatch));
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(softmax_in_batches<T>, {.grid = dim3(ceil_div(rows, 4)), .block = dim3(4 * kWarp)}, l.stream,
           Matrices<T>{a.x.as<T>(), a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0]}, batches);
  });
}

}  // namespace assay::ROOM(softmax, single_column_of_batch_lost)
