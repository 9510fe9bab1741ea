// SPDX-License-Identifier: Apache-2.0
// FAULT: takes the mean of a row as the mean of the 32 means of its lanes, which is right only if all lanes have as many
// elements. Visible where cols is no multiple of 32: the last elements count too much; below 32 columns it divides by 32 in
// place of cols.
// KIND: algorithm
#include "cuda/core/row_norm.cuh"
#include "ops/layernorm_residual.hpp"

namespace assay::ROOM(layernorm_residual, mean_of_the_lanes_means) {

inline constexpr int kWarps = 4;

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kWarps), tile(Axis::cols, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 6}},
};

template <class T>
__global__ void __launch_bounds__(kWarps* kWarp) layernorm_residual_lanes(row_norm::Matrices<T, layernorm_residual::Args> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  const T* const residual = m.residual + row * m.residual_stride;
  T* const y = m.y + row * m.y_stride;

  float sum = 0, count = 0;
  for (std::int64_t c = lane_id(); c < m.cols; c += kWarp) sum += to_float(ld(x + c)), count += 1;
  const float mean = warp_sum(count > 0 ? sum / count : 0.0f) / kWarp;

  float squares = 0;
  for (std::int64_t c = lane_id(); c < m.cols; c += kWarp) {
    const float d = to_float(ld(x + c)) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(warp_sum(squares) / static_cast<float>(m.cols) + m.epsilon);

  for (std::int64_t c = lane_id(); c < m.cols; c += kWarp) {
    const float normalised = fmaf((to_float(ld(x + c)) - mean) * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)));
    st(y + c, from_float<T>(normalised + to_float(ld(residual + c))));
  }
}

void run(const layernorm_residual::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_residual_lanes<T>, {.grid = dim3(ceil_div(a.x.shape[0], kWarps)), .block = dim3(kWarps * kWarp)}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(layernorm_residual, mean_of_the_lanes_means)
