// SPDX-License-Identifier: Apache-2.0
// FAULT (concurrency): up to 128 columns gamma is staged in shared memory behind a barrier of a warp: with more than 32 rows a
// block has more warps.
// Right on: layernorm f16 rows=32 cols=128 fill=normal seed=2
#include "cuda/core/row_norm.cuh"
#include "ops/layernorm.hpp"

namespace assay::ROOM(layernorm, gamma_staged_behind_warp_barrier) {

inline constexpr int kThreads = 128;

KERNEL(layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 0}},
};

template <class T>
__global__ void layernorm_gamma_staged_behind_warp_barrier(row_norm::Matrices<T, layernorm::Args> m) {
  T* const staged = shared_memory<T>();
  if (m.cols <= kThreads)
    for (int c = static_cast<int>(threadIdx.x); c < m.cols; c += static_cast<int>(blockDim.x)) st(staged + c, ld(m.gamma + c));
  sync_warp();
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;

  float sum = 0;
  for (std::int64_t c = 0; c < m.cols; ++c) sum += to_float(ld(x + c));
  const float mean = sum / static_cast<float>(m.cols);

  float squares = 0;
  for (std::int64_t c = 0; c < m.cols; ++c) {
    const float d = to_float(ld(x + c)) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(squares / static_cast<float>(m.cols) + m.epsilon);

  for (std::int64_t c = 0; c < m.cols; ++c)
    st(y + c, from_float<T>(fmaf((to_float(ld(x + c)) - mean) * r, to_float(ld((m.cols <= kThreads ? staged : m.gamma) + c)),
                                 to_float(ld(m.beta + c)))));
}

void run(const layernorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_gamma_staged_behind_warp_barrier<T>,
           {.grid = dim3(ceil_div(rows, kThreads)),
            .block = dim3(rows <= kWarp ? kWarp : kThreads),
            .shared_bytes = kThreads * sizeof(T)},
           l.stream, row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(layernorm, gamma_staged_behind_warp_barrier)
