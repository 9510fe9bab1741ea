// SPDX-License-Identifier: Apache-2.0
// FAULT: a row is gone through in chunks of 1024 columns, whose number is ceil((cols - 1) / 1024): a single column after the
// last whole chunk is lost.
// Kind: offsets
// Shows: cols of 1025, 2049, ...
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, one_column_over_chunk) {

inline constexpr int kEach = 8, kChunk = kEach * kPlainThreads;

template <class T>
__global__ void by_chunks(Matrices<T> m, std::int64_t chunks) {
  const T* const x = m.x + blockIdx.x * m.x_stride;
  T* const y = m.y + blockIdx.x * m.y_stride;
  float* const scratch = shared_memory<float>();
  const auto each = [&](auto&& use) {
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
#pragma unroll
      for (int j = 0; j < kEach; ++j)
        if (const std::int64_t c = chunk * kChunk + j * kPlainThreads + threadIdx.x; c < m.cols) use(c, to_float(ld(x + c)));
  };
  float max = -INFINITY, sum = 0;
  each([&](std::int64_t, float v) { max = fmaxf(max, v); });
  max = block_max(max, scratch);
  each([&](std::int64_t, float v) { sum += expf(v - max); });
  sum = block_sum(sum, scratch);
  each([&](std::int64_t c, float v) { st(y + c, from_float<T>(expf(v - max) / sum)); });
}

KERNEL(softmax) = {.dtypes = kEveryType,
                   .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kChunk)},
                   .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}}};

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(by_chunks<T>, {.grid = dim3(rows), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(float)}, l.stream,
           Matrices<T>{a.x.as<T>(), a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0]},
           std::max<std::int64_t>(1, ceil_div(cols - 1, kChunk)));
  });
}

}  // namespace assay::ROOM(softmax, one_column_over_chunk)
