// SPDX-License-Identifier: Apache-2.0
// FAULT (precision): up to 64 columns the variance is the mean of squares less the square of the mean.
// Right on: layernorm f16 rows=32 cols=128 fill=normal seed=2
#include "cuda/core/row_norm.cuh"
#include "ops/layernorm.hpp"

namespace assay::ROOM(layernorm, one_pass_to_64_columns) {

inline constexpr int kThreads = 128;

KERNEL(layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 0}},
};

template <class T>
__global__ void layernorm_one_pass_to_64_columns(row_norm::Matrices<T, layernorm::Args> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;

  float sum = 0;
  for (std::int64_t c = 0; c < m.cols; ++c) sum += to_float(ld(x + c));
  const float mean = sum / static_cast<float>(m.cols);

  float squares = 0;
  for (std::int64_t c = 0; c < m.cols; ++c) {
    const float d = to_float(ld(x + c)) - (m.cols <= 64 ? 0.0f : mean);
    squares = fmaf(d, d, squares);
  }
  if (m.cols <= 64) squares = fmaxf(squares - mean * mean * static_cast<float>(m.cols), 0.0f);
  const float r = 1.0f / sqrtf(squares / static_cast<float>(m.cols) + m.epsilon);

  for (std::int64_t c = 0; c < m.cols; ++c)
    st(y + c, from_float<T>(fmaf((to_float(ld(x + c)) - mean) * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)))));
}

void run(const layernorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_one_pass_to_64_columns<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(layernorm, one_pass_to_64_columns)
