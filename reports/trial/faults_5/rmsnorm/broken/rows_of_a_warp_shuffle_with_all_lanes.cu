// SPDX-License-Identifier: Apache-2.0
// FAULT: a warp takes four rows by eight lanes each; lanes without a row leave, and the shuffles of the others still name all
//   32 lanes.
// KIND: concurrency
// Right on: rmsnorm f16 rows=64 cols=256 fill=normal seed=1
// Wrong on: rmsnorm f16 rows=6 cols=64 fill=normal seed=1
#include "cuda/core/row_norm.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, rows_of_a_warp_shuffle_with_all_lanes) {

inline constexpr int kLanes = 8, kThreads = 128;  // lanes of a row

KERNEL(rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads / kLanes), tile(Axis::cols, kLanes)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kLanes, .extra = 3}},
};

template <class T>
__global__ void __launch_bounds__(kThreads) rmsnorm_short_rows(row_norm::Matrices<T, rmsnorm::Args> m) {
  const std::int64_t row = (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) / kLanes;
  if (row >= m.rows) return;
  const int lane = lane_id() % kLanes;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;

  float squares = 0;
  for (std::int64_t c = lane; c < m.cols; c += kLanes) squares = fmaf(to_float(ld(x + c)), to_float(ld(x + c)), squares);
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) squares += shuffle_xor(squares, offset);
  const float r = 1.0f / sqrtf(squares / static_cast<float>(m.cols) + m.epsilon);

  for (std::int64_t c = lane; c < m.cols; c += kLanes)
    st(y + c, from_float<T>(to_float(ld(x + c)) * r * to_float(ld(m.gamma + c))));
}

void run(const rmsnorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_short_rows<T>, {.grid = dim3(ceil_div(rows * kLanes, kThreads)), .block = dim3(kThreads)}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(rmsnorm, rows_of_a_warp_shuffle_with_all_lanes)
