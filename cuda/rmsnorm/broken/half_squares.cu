// SPDX-License-Identifier: Apache-2.0
// FAULT: a thread keeps its sum of squares in the storage dtype, whose largest value is 65504 in f16, and the declaration says
// f32, which is true of f32: f16 and bf16 only.
// Caught by: the bound, on rows of |x| about 8000 in f16, whose squares are infinite (large_rows), and on random fills from
// about a hundred columns on.
#include "cuda/core/row_norm.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, half_squares) {

inline constexpr int kThreads = 32;

KERNEL(rmsnorm){
    .dtypes = {f16, bf16},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}},
};

template <class T>
__global__ void rmsnorm_half_squares(row_norm::Matrices<T, rmsnorm::Args> m) {
  const std::int64_t row = blockIdx.x;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;
  float* const partial = shared_memory<float>();

  T squares = from_float<T>(0);
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads) {
    const float v = to_float(ld(x + c));
    squares = from_float<T>(fmaf(v, v, to_float(squares)));
  }
  const float r = 1.0f / sqrtf(block_sum(to_float(squares), partial) / static_cast<float>(m.cols) + m.epsilon);

  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads)
    st(y + c, from_float<T>(to_float(ld(x + c)) * r * to_float(ld(m.gamma + c))));
}

void run(const rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_half_squares<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(rmsnorm, half_squares)
