// SPDX-License-Identifier: Apache-2.0
// FAULT: gamma and beta are read in packs of four also at the end of a row, beyond the last of their columns; what is read
// there is not used.
// Kind: concurrency
// Shows: cols that is no multiple of four: the reads end past gamma and beta.
#include "cuda/core/row_norm.cuh"
#include "ops/residual_layernorm.hpp"

namespace assay::ROOM(residual_layernorm, affine_read_in_whole_packs) {

inline constexpr int kWarps = 4;
template <class T>
using Rows = row_norm::Matrices<T, residual_layernorm::Args>;

template <class T>
__global__ void residual_layernorm_fours(Rows<T> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  const T* const residual = m.residual + row * m.residual_stride;
  T* const s = m.s + row * m.s_stride;
  T* const y = m.y + row * m.y_stride;
  float sum = 0, squares = 0;
  const auto added = [&](std::int64_t c) { return to_float(from_float<T>(to_float(ld(x + c)) + to_float(ld(residual + c)))); };
  for (std::int64_t c = lane_id(); c < m.cols; c += kWarp) {
    const float v = added(c);
    st(s + c, from_float<T>(v));
    sum += v;
  }
  const float mean = warp_sum(sum) / static_cast<float>(m.cols);
  for (std::int64_t c = lane_id(); c < m.cols; c += kWarp) squares = fmaf(added(c) - mean, added(c) - mean, squares);
  const float r = 1.0f / sqrtf(warp_sum(squares) / static_cast<float>(m.cols) + m.epsilon);
  for (std::int64_t c = lane_id() * 4; c < m.cols; c += kWarp * 4) {
    float gamma[4], beta[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) gamma[j] = to_float(ld(m.gamma + c + j)), beta[j] = to_float(ld(m.beta + c + j));
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (c + j < m.cols) st(y + c + j, from_float<T>(fmaf((added(c + j) - mean) * r, gamma[j], beta[j])));
  }
}

KERNEL(residual_layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kWarps), tile(Axis::cols, 4 * kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}},
};

void run(const residual_layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(residual_layernorm_fours<T>, {.grid = dim3(ceil_div(a.x.shape[0], kWarps)), .block = dim3(kWarps * kWarp)}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(residual_layernorm, affine_read_in_whole_packs)
