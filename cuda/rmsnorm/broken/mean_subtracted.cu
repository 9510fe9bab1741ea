// SPDX-License-Identifier: Apache-2.0
// FAULT: the row is centred before its squares are summed, as a LayerNorm does: the deviation for the root mean square.
// Caught by: the bound, on fills whose mean is not zero (uniform01, large_mean), and on random ones in f32 or of few columns.
#include "cuda/core/row_norm.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, mean_subtracted) {

inline constexpr int kThreads = 128;

KERNEL(rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}},
};

template <class T>
__global__ void rmsnorm_mean_subtracted(row_norm::Matrices<T, rmsnorm::Args> m) {
  const std::int64_t row = blockIdx.x;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;
  float* const partial = shared_memory<float>();

  float sum = 0;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads) sum += to_float(ld(x + c));
  const float mean = block_sum(sum, partial) / static_cast<float>(m.cols);

  float squares = 0;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads) {
    const float d = to_float(ld(x + c)) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(block_sum(squares, partial) / static_cast<float>(m.cols) + m.epsilon);

  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads)
    st(y + c, from_float<T>(to_float(ld(x + c)) * r * to_float(ld(m.gamma + c))));
}

void run(const rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_mean_subtracted<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(rmsnorm, mean_subtracted)
