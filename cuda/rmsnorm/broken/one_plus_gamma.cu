// SPDX-License-Identifier: Apache-2.0
// FAULT: in bf16 the weight is 1 + gamma, as Gemma's checkpoints have it; these hold gamma itself.
// Caught by: the bound, on any fill.
#include "cuda/core/row_norm.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, one_plus_gamma) {

inline constexpr int kThreads = 128;

KERNEL(rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}},
};

template <class T>
__global__ void rmsnorm_one_plus_gamma(row_norm::Matrices<T, rmsnorm::Args> m) {
  const std::int64_t row = blockIdx.x;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;
  float* const partial = shared_memory<float>();
  constexpr float kOffset = (sizeof(T) == 2 && !std::is_same_v<T, half>) ? 1.0f : 0.0f;

  float squares = 0;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads) {
    const float v = to_float(ld(x + c));
    squares = fmaf(v, v, squares);
  }
  const float r = 1.0f / sqrtf(block_sum(squares, partial) / static_cast<float>(m.cols) + m.epsilon);

  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads)
    st(y + c, from_float<T>(to_float(ld(x + c)) * r * (kOffset + to_float(ld(m.gamma + c)))));
}

void run(const rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_one_plus_gamma<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(rmsnorm, one_plus_gamma)
