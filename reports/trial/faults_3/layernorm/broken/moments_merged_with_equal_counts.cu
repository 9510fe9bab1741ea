// SPDX-License-Identifier: Apache-2.0
// FAULT: the lanes' means are averaged and their variances merged as if every lane had the same number of columns.
// Kind: algorithm
// Shows: columns that are no multiple of 32.
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, moments_merged_with_equal_counts) {

template <class T>
__global__ void layernorm_merged(Rows<T> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * 4 + warp_id();
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;
  float sum = 0, squares = 0, count = 0;
  for (std::int64_t c = lane_id(); c < m.cols; c += kWarp) sum += to_float(ld(x + c)), count += 1;
  const float own = count > 0 ? sum / count : 0.0f;
  for (std::int64_t c = lane_id(); c < m.cols; c += kWarp) {
    const float d = to_float(ld(x + c)) - own;
    squares = fmaf(d, d, squares);
  }
  const float mean = warp_sum(own) / kWarp, between = own - mean;
  const float variance = warp_sum(count > 0 ? squares / count + between * between : 0.0f) / kWarp;
  const float r = 1.0f / sqrtf(variance + m.epsilon);
  for (std::int64_t c = lane_id(); c < m.cols; c += kWarp)
    st(y + c, from_float<T>(fmaf((to_float(ld(x + c)) - mean) * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)))));
}

KERNEL(layernorm){.dtypes = kEveryType,
                  .tiles = {tile(Axis::rows, 4), tile(Axis::cols, kWarp)},
                  .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 10}}};

void run(const layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_merged<T>, {.grid = dim3(ceil_div(a.x.shape[0], 4)), .block = dim3(4 * kWarp)}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(layernorm, moments_merged_with_equal_counts)
