// SPDX-License-Identifier: Apache-2.0
// FAULT: the variance is E[x^2] - E[x]^2, in one pass over the row: right on centred data, all cancellation where the mean is
// large beside the deviation.
// Caught by: the bound, on the fills whose mean is far from zero (large_mean), any shape with more than one column.
#include "cuda/core/row_norm.cuh"
#include "ops/layernorm.hpp"

namespace assay::ROOM(layernorm, one_pass_variance) {

inline constexpr int kThreads = 128;

KERNEL(layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}},
};

template <class T>
__global__ void layernorm_one_pass_variance(row_norm::Matrices<T, layernorm::Args> m) {
  const std::int64_t row = blockIdx.x;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;
  float* const partial = shared_memory<float>();

  float sum = 0, squares = 0;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads) {
    const float v = to_float(ld(x + c));
    sum += v, squares = fmaf(v, v, squares);
  }
  const float mean = block_sum(sum, partial) / static_cast<float>(m.cols);
  const float variance = block_sum(squares, partial) / static_cast<float>(m.cols) - mean * mean;
  const float r = 1.0f / sqrtf(variance + m.epsilon);

  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads)
    st(y + c, from_float<T>(fmaf((to_float(ld(x + c)) - mean) * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)))));
}

void run(const layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_one_pass_variance<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(layernorm, one_pass_variance)
