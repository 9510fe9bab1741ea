// SPDX-License-Identifier: Apache-2.0
// FAULT (state): a row keeps its root from the call before while its first 8 elements add up to the same.
// Right on: rmsnorm f16 rows=32 cols=128 fill=normal seed=2
#include "../../kept.cuh"
#include "cuda/core/row_norm.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, root_kept_while_first_eight_alike) {

inline constexpr int kThreads = 128;

KERNEL(rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 0}},
    .workspace_bytes = [](const rmsnorm::Args& a) { return static_cast<std::size_t>(a.x.shape[0] * 8); },
};

template <class T>
__global__ void rmsnorm_root_kept_while_first_eight_alike(row_norm::Matrices<T, rmsnorm::Args> m, bool repeated, float* kept) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;

  float head = 0, squares = 0;
  for (std::int64_t c = 0; c < m.cols && c < 8; ++c) head += to_float(ld(x + c));
  kept += row * 2;
  const bool same = repeated && ld(kept) == head;
  for (std::int64_t c = 0; c < m.cols && !same; ++c) squares = fmaf(to_float(ld(x + c)), to_float(ld(x + c)), squares);
  const float r = same ? ld(kept + 1) : 1.0f / sqrtf(squares / static_cast<float>(m.cols) + m.epsilon);
  st(kept, head), st(kept + 1, r);

  for (std::int64_t c = 0; c < m.cols; ++c) st(y + c, from_float<T>(to_float(ld(x + c)) * r * to_float(ld(m.gamma + c))));
}

void run(const rmsnorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  static kept::Call before{};
  const bool repeated = kept::again(before, {{a.x.data, a.y.data, l.workspace}, {rows, a.x.shape[1]}, a.x.dtype});
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_root_kept_while_first_eight_alike<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)},
           l.stream, row_norm::matrices<T>(a), repeated, static_cast<float*>(l.workspace));
  });
}

}  // namespace assay::ROOM(rmsnorm, root_kept_while_first_eight_alike)
