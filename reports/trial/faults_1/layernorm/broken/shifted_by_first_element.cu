// SPDX-License-Identifier: Apache-2.0
// FAULT: the variance is taken in one pass of the values less the first one, which cancels where the first is far from the
// others; two passes are declared.
// Kind: precision
// Shows: a row whose first element is an outlier, such as 1000 beside values of about 1.
#include "cuda/core/row_norm.cuh"
#include "ops/layernorm.hpp"

namespace assay::ROOM(layernorm, shifted_by_first_element) {

inline constexpr int kWarps = 4;
template <class T>
using Rows = row_norm::Matrices<T, layernorm::Args>;

template <class T>
__global__ void layernorm_shifted(Rows<T> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;
  const float shift = to_float(ld(x)), cols = static_cast<float>(m.cols);
  float sum = 0, squares = 0;
  for (std::int64_t c = lane_id(); c < m.cols; c += kWarp) {
    const float d = to_float(ld(x + c)) - shift;
    sum += d, squares = fmaf(d, d, squares);
  }
  const float mean = warp_sum(sum) / cols, variance = fmaxf(0.0f, warp_sum(squares) / cols - mean * mean);
  const float r = 1.0f / sqrtf(variance + m.epsilon);
  for (std::int64_t c = lane_id(); c < m.cols; c += kWarp)
    st(y + c, from_float<T>(fmaf((to_float(ld(x + c)) - shift - mean) * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)))));
}

KERNEL(layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kWarps), tile(Axis::cols, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}},
};

void run(const layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_shifted<T>, {.grid = dim3(ceil_div(a.x.shape[0], kWarps)), .block = dim3(kWarps * kWarp)}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(layernorm, shifted_by_first_element)
