// SPDX-License-Identifier: Apache-2.0
// FAULT: the lanes of a warp join their means and squared deviations as if all had equally many elements; wrong where cols is
//   no multiple of 32.
// KIND: algorithm
// Right on: layernorm f16 rows=64 cols=256 fill=normal seed=1
// Wrong on: layernorm f16 rows=16 cols=65 fill=normal seed=1
#include "cuda/core/row_norm.cuh"
#include "ops/layernorm.hpp"

namespace assay::ROOM(layernorm, lanes_joined_as_equals) {

inline constexpr int kRows = 4;  // warps per block

KERNEL(layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kRows), tile(Axis::cols, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 10}},
};

template <class T>
__global__ void __launch_bounds__(kRows* kWarp) layernorm_lanes(row_norm::Matrices<T, layernorm::Args> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + warp_id();
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;

  // A lane's own mean, and the squares of its deviations from it.
  float count = 0, mean = 0, squares = 0;
  for (std::int64_t c = lane_id(); c < m.cols; c += kWarp) mean += to_float(ld(x + c)), count += 1;
  if (count > 0) mean /= count;
  for (std::int64_t c = lane_id(); c < m.cols; c += kWarp) {
    const float d = to_float(ld(x + c)) - mean;
    squares = fmaf(d, d, squares);
  }
  // Join two equal parts: the mean of the means, and what their distance adds to the squares (Chan et al. 1979).
  for (int offset = 1; offset < kWarp; offset *= 2) {
    const float other = shuffle_xor(mean, offset), d = other - mean;
    squares += shuffle_xor(squares, offset) + d * d * count * 0.5f;
    mean = 0.5f * (mean + other);
    count += shuffle_xor(count, offset);
  }
  const float r = 1.0f / sqrtf(squares / static_cast<float>(m.cols) + m.epsilon);
  for (std::int64_t c = lane_id(); c < m.cols; c += kWarp)
    st(y + c, from_float<T>(fmaf((to_float(ld(x + c)) - mean) * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)))));
}

void run(const layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_lanes<T>, {.grid = dim3(ceil_div(a.x.shape[0], kRows)), .block = dim3(kRows * kWarp)}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(layernorm, lanes_joined_as_equals)
