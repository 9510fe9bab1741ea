// SPDX-License-Identifier: Apache-2.0
// FAULT (inputs): in rows of more than 512 columns the mean lies in the first element of x while the row is worked on, which
// is put back.
// Right on: layernorm f16 rows=32 cols=128 fill=normal seed=2
#include "cuda/core/row_norm.cuh"
#include "ops/layernorm.hpp"

namespace assay::ROOM(layernorm, mean_parked_in_first_input) {

inline constexpr int kThreads = 128;

KERNEL(layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 0}},
};

template <class T>
__global__ void layernorm_mean_parked_in_first_input(row_norm::Matrices<T, layernorm::Args> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= m.rows) return;
  T* const x = const_cast<T*>(m.x) + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;

  float sum = 0;
  for (std::int64_t c = 0; c < m.cols; ++c) sum += to_float(ld(x + c));
  const float mean = sum / static_cast<float>(m.cols);

  const bool parked = m.cols > 512;
  const T first = m.cols > 0 ? ld(x) : from_float<T>(0.0f);
  if (parked) st(x, from_float<T>(mean));
  const auto at = [&](std::int64_t c) { return to_float(c == 0 ? first : ld(x + c)); };
  float squares = 0;
  for (std::int64_t c = 0; c < m.cols; ++c) {
    const float d = at(c) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(squares / static_cast<float>(m.cols) + m.epsilon);

  for (std::int64_t c = 0; c < m.cols; ++c)
    st(y + c, from_float<T>(fmaf((at(c) - mean) * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)))));
  if (parked) st(x, first);
}

void run(const layernorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_mean_parked_in_first_input<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(layernorm, mean_parked_in_first_input)
