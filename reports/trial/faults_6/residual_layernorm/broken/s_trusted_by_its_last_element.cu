// SPDX-License-Identifier: Apache-2.0
// FAULT (output): from 256 columns on a row of s whose last element is there already is not added again.
// Right on: residual_layernorm f16 rows=32 cols=128 fill=normal seed=2
#include "cuda/core/row_norm.cuh"
#include "ops/residual_layernorm.hpp"

namespace assay::ROOM(residual_layernorm, s_trusted_by_its_last_element) {

inline constexpr int kThreads = 128;

KERNEL(residual_layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 0}},
};

template <class T>
__global__ void residual_layernorm_s_trusted_by_its_last_element(row_norm::Matrices<T, residual_layernorm::Args> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  const T* const residual = m.residual + row * m.residual_stride;
  T* const s = m.s + row * m.s_stride;
  T* const y = m.y + row * m.y_stride;

  const std::int64_t end = m.cols - 1;
  const bool there =
      m.cols >= 256 && to_float(ld(s + end)) == to_float(from_float<T>(to_float(ld(x + end)) + to_float(ld(residual + end))));
  float sum = 0;
  for (std::int64_t c = 0; c < m.cols; ++c) {
    const T v = there ? ld(s + c) : from_float<T>(to_float(ld(x + c)) + to_float(ld(residual + c)));
    if (!there) st(s + c, v);
    sum += to_float(v);
  }
  const float mean = sum / static_cast<float>(m.cols);

  float squares = 0;
  for (std::int64_t c = 0; c < m.cols; ++c) {
    const float d = to_float(ld(s + c)) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(squares / static_cast<float>(m.cols) + m.epsilon);

  for (std::int64_t c = 0; c < m.cols; ++c)
    st(y + c, from_float<T>(fmaf((to_float(ld(s + c)) - mean) * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)))));
}

void run(const residual_layernorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(residual_layernorm_s_trusted_by_its_last_element<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)},
           l.stream, row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(residual_layernorm, s_trusted_by_its_last_element)
