// SPDX-License-Identifier: Apache-2.0
// FAULT: up to 4 rows, as one token each makes them, have the residual added to the LayerNorm of x instead of to x, as
// layernorm_residual has it; s is right.
// Caught by: the bound of y, on any fill with a residual that is not zero.
#include "cuda/core/row_norm.cuh"
#include "ops/residual_layernorm.hpp"

namespace assay::ROOM(residual_layernorm, residual_after_norm) {

inline constexpr int kThreads = 128;

KERNEL(residual_layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}},
};

template <class T>
__global__ void residual_layernorm_residual_after_norm(row_norm::Matrices<T, residual_layernorm::Args> m) {
  const std::int64_t row = blockIdx.x;
  const T* const x = m.x + row * m.x_stride;
  const T* const residual = m.residual + row * m.residual_stride;
  T* const s = m.s + row * m.s_stride;
  T* const y = m.y + row * m.y_stride;
  float* const partial = shared_memory<float>();
  const bool after = gridDim.x <= 4;
  const auto normed = [&](std::int64_t c) {
    const float v = to_float(ld(x + c));
    return after ? v : to_float(from_float<T>(v + to_float(ld(residual + c))));
  };

  float sum = 0;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads) sum += normed(c);
  const float mean = block_sum(sum, partial) / static_cast<float>(m.cols);

  float squares = 0;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads) {
    const float d = normed(c) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(block_sum(squares, partial) / static_cast<float>(m.cols) + m.epsilon);

  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads) {
    const float added = to_float(ld(residual + c));
    st(s + c, from_float<T>(to_float(ld(x + c)) + added));
    const float normalised = fmaf((normed(c) - mean) * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)));
    st(y + c, from_float<T>(after ? normalised + added : normalised));
  }
}

void run(const residual_layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(residual_layernorm_residual_after_norm<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(residual_layernorm, residual_after_norm)
