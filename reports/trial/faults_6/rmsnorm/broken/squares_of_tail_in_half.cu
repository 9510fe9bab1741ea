// SPDX-License-Identifier: Apache-2.0
// FAULT (precision): the squares of the elements after the last whole pack of 8 are added up in f16.
// Right on: rmsnorm f16 rows=32 cols=128 fill=normal seed=2
#include "cuda/core/row_norm.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, squares_of_tail_in_half) {

inline constexpr int kThreads = 128;

KERNEL(rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 0}},
};

template <class T>
__global__ void rmsnorm_squares_of_tail_in_half(row_norm::Matrices<T, rmsnorm::Args> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;

  float squares = 0;
  float left = 0;
  for (std::int64_t c = m.cols / 8 * 8; c < m.cols; ++c)
    left = to_float(from_float<half>(fmaf(to_float(ld(x + c)), to_float(ld(x + c)), left)));
  for (std::int64_t c = 0; c < m.cols / 8 * 8; ++c) squares = fmaf(to_float(ld(x + c)), to_float(ld(x + c)), squares);
  const float r = 1.0f / sqrtf((squares + left) / static_cast<float>(m.cols) + m.epsilon);

  for (std::int64_t c = 0; c < m.cols; ++c) st(y + c, from_float<T>(to_float(ld(x + c)) * r * to_float(ld(m.gamma + c))));
}

void run(const rmsnorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_squares_of_tail_in_half<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(rmsnorm, squares_of_tail_in_half)
