// SPDX-License-Identifier: Apache-2.0
// FAULT: the first thread leaves the root in shared memory and no barrier stands between that and the others' reading of it.
// Caught by: a shared-memory race on simt, and the bound of y in orders that let another warp run first; cols > 32, any fill.
#include "cuda/core/row_norm.cuh"
#include "ops/residual_rmsnorm.hpp"

namespace assay::ROOM(residual_rmsnorm, missing_barrier) {

inline constexpr int kThreads = 128;

KERNEL(residual_rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}},
};

template <class T>
__global__ void residual_rmsnorm_missing_barrier(row_norm::Matrices<T, residual_rmsnorm::Args> m) {
  const std::int64_t row = blockIdx.x;
  const T* const x = m.x + row * m.x_stride;
  const T* const residual = m.residual + row * m.residual_stride;
  T* const s = m.s + row * m.s_stride;
  T* const y = m.y + row * m.y_stride;
  float* const partial = shared_memory<float>();

  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads)
    st(s + c, from_float<T>(to_float(ld(x + c)) + to_float(ld(residual + c))));

  float squares = 0;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads) {
    const float v = to_float(ld(s + c));
    squares = fmaf(v, v, squares);
  }
  const float all = block_sum(squares, partial);
  if (threadIdx.x == 0) st(partial + kWarp, 1.0f / sqrtf(all / static_cast<float>(m.cols) + m.epsilon));
  const float r = ld(partial + kWarp);

  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads)
    st(y + c, from_float<T>(to_float(ld(s + c)) * r * to_float(ld(m.gamma + c))));
}

void run(const residual_rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(residual_rmsnorm_missing_barrier<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = (kWarp + 1) * sizeof(float)}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(residual_rmsnorm, missing_barrier)
