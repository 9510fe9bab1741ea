// SPDX-License-Identifier: Apache-2.0
// A fixed number of blocks, whose four warps walk over the rows; s / root is rounded to the dtype before it is multiplied by
// gamma.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/residual_rmsnorm.hpp"

namespace assay::ROOM(residual_rmsnorm, stored_norm) {

inline constexpr int kWarps = 4;
inline constexpr std::int64_t kMostBlocks = 16;

KERNEL(residual_rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kWarps), tile(Axis::cols, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}, .stores_intermediate = true},
    .supports = residual_rmsnorm::rounded_alone,
};

template <class T>
struct Rows {
  const T *x, *residual, *gamma;
  T *y, *s;
  std::int64_t rows, cols, x_stride, residual_stride, y_stride, s_stride;
  float epsilon;
};

template <class T>
__global__ void residual_rmsnorm_stored_norm(Rows<T> m) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kWarps;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id(); row < m.rows; row += step) {
    const T* const x = m.x + row * m.x_stride;
    const T* const residual = m.residual + row * m.residual_stride;
    T* const s = m.s + row * m.s_stride;
    float squares = 0;
    for (std::int64_t c = lane_id(); c < m.cols; c += kWarp) {
      const T stored = from_float<T>(to_float(ld(x + c)) + to_float(ld(residual + c)));
      st(s + c, stored);
      squares = fmaf(to_float(stored), to_float(stored), squares);
    }
    const float r = 1.0f / sqrtf(warp_sum(squares) / static_cast<float>(m.cols) + m.epsilon);
    for (std::int64_t c = lane_id(); c < m.cols; c += kWarp) {
      const float norm = to_float(from_float<T>(to_float(ld(s + c)) * r));
      st(m.y + row * m.y_stride + c, from_float<T>(norm * to_float(ld(m.gamma + c))));
    }
  }
}

void run(const residual_rmsnorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Rows<T> m{a.x.as<T>(), a.residual.as<T>(), a.gamma.as<T>(), a.y.as<T>(), a.s.as<T>(), rows, a.x.shape[1],
                    a.x.stride[0], a.residual.stride[0], a.y.stride[0], a.s.stride[0], static_cast<float>(a.epsilon)};
    launch(residual_rmsnorm_stored_norm<T>,
           {.grid = dim3(std::min(ceil_div(rows, kWarps), kMostBlocks)), .block = dim3(kWarps * kWarp)}, l.stream, m);
  });
}

}  // namespace assay::ROOM(residual_rmsnorm, stored_norm)
