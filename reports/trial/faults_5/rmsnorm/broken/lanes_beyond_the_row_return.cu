// SPDX-License-Identifier: Apache-2.0
// FAULT: lanes without an element of the row return before the butterfly, which names all lanes; wrong in rows of fewer than 32
//   columns.
// KIND: concurrency
// Right on: rmsnorm f16 rows=64 cols=256 fill=normal seed=1
// Wrong on: rmsnorm f16 rows=8 cols=17 fill=normal seed=1
#include "cuda/core/row_norm.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, lanes_beyond_the_row_return) {

inline constexpr int kRows = 4;  // warps per block

KERNEL(rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kRows), tile(Axis::cols, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}},
};

template <class T>
__global__ void __launch_bounds__(kRows* kWarp) rmsnorm_lanes(row_norm::Matrices<T, rmsnorm::Args> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + warp_id();
  if (row >= m.rows || lane_id() >= m.cols) return;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;
  float squares = 0;
  for (std::int64_t c = lane_id(); c < m.cols; c += kWarp) {
    const float v = to_float(ld(x + c));
    squares = fmaf(v, v, squares);
  }
  const float r = 1.0f / sqrtf(warp_sum(squares) / static_cast<float>(m.cols) + m.epsilon);
  for (std::int64_t c = lane_id(); c < m.cols; c += kWarp)
    st(y + c, from_float<T>(to_float(ld(x + c)) * r * to_float(ld(m.gamma + c))));
}

void run(const rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_lanes<T>, {.grid = dim3(ceil_div(a.x.shape[0], kRows)), .block = dim3(kRows * kWarp)}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(rmsnorm, lanes_beyond_the_row_return)
