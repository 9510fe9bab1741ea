// SPDX-License-Identifier: Apache-2.0
// FAULT: gets mean and variance in one pass over x - x[0]. Without an outlier that is accurate. Visible where the first
// element of a row is far from the others, such as an outlier of 1000 beside values of order 1: the variance loses its last
// digits.
// KIND: precision
#include "cuda/core/row_norm.cuh"
#include "ops/layernorm.hpp"

namespace assay::ROOM(layernorm, variance_about_first_element) {

inline constexpr int kThreads = 128;

KERNEL(layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 0}},
};

template <class T>
__global__ void layernorm_naive(row_norm::Matrices<T, layernorm::Args> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;

  const float first = to_float(ld(x)), count = static_cast<float>(m.cols);
  float sum = 0, squares = 0;
  for (std::int64_t c = 0; c < m.cols; ++c) {
    const float d = to_float(ld(x + c)) - first;
    sum += d;
    squares = fmaf(d, d, squares);
  }
  const float mean = first + sum / count, apart = sum / count;
  const float r = 1.0f / sqrtf(fmaxf(squares / count - apart * apart, 0.0f) + m.epsilon);

  for (std::int64_t c = 0; c < m.cols; ++c)
    st(y + c, from_float<T>(fmaf((to_float(ld(x + c)) - mean) * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)))));
}

void run(const layernorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_naive<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(layernorm, variance_about_first_element)
