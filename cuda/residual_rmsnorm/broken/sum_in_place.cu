// SPDX-License-Identifier: Apache-2.0
// FAULT: up to 4 rows, as one token each makes them, have the sum where the residual was, as inference engines that own the
// residual stream do, and s keeps what it held.
// Caught by: the check of s, the two garbage patterns in it, and the check that inputs are unchanged; any fill.
#include "cuda/core/row_norm.cuh"
#include "ops/residual_rmsnorm.hpp"

namespace assay::ROOM(residual_rmsnorm, sum_in_place) {

inline constexpr int kThreads = 128;

KERNEL(residual_rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}},
};

template <class T>
__global__ void residual_rmsnorm_sum_in_place(row_norm::Matrices<T, residual_rmsnorm::Args> m) {
  const std::int64_t row = blockIdx.x;
  const T* const x = m.x + row * m.x_stride;
  const T* const residual = m.residual + row * m.residual_stride;
  T* const s = gridDim.x <= 4 ? const_cast<T*>(residual) : m.s + row * m.s_stride;
  T* const y = m.y + row * m.y_stride;
  float* const partial = shared_memory<float>();

  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads)
    st(s + c, from_float<T>(to_float(ld(x + c)) + to_float(ld(residual + c))));
  float squares = 0;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads) {
    const float v = to_float(ld(s + c));
    squares = fmaf(v, v, squares);
  }
  const float r = 1.0f / sqrtf(block_sum(squares, partial) / static_cast<float>(m.cols) + m.epsilon);

  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads)
    st(y + c, from_float<T>(to_float(ld(s + c)) * r * to_float(ld(m.gamma + c))));
}

void run(const residual_rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(residual_rmsnorm_sum_in_place<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(residual_rmsnorm, sum_in_place)
