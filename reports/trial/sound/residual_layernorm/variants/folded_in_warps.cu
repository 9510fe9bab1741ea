// SPDX-License-Identifier: Apache-2.0
// A row a warp, five rows a block, gamma and beta folded into the norm, as declared: y = s a + b, a = r gamma, b = beta - mean
// a, no
// product fused.  An infinite gamma would give NaN, so it takes finite inputs only.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/residual_layernorm.hpp"

namespace assay::ROOM(residual_layernorm, folded_in_warps) {

inline constexpr int kRows = 5;

KERNEL(residual_layernorm){
    .dtypes = {f16, bf16, f32},
    .finite_inputs = true,
    .tiles = {tile(Axis::rows, kRows), tile(Axis::cols, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}, .folded_affine = true},
};

template <class T>
struct Rows {
  const T *x, *residual, *gamma, *beta;
  T *y, *s;
  std::int64_t rows, cols, x_stride, residual_stride, y_stride, s_stride;
  float epsilon;
};

template <class T>
__global__ void residual_layernorm_folded_in_warps(Rows<T> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + warp_id();
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  const T* const residual = m.residual + row * m.residual_stride;
  T* const s = m.s + row * m.s_stride;
  const float width = static_cast<float>(m.cols);
  // Note: a lane reads back only those elements of s that it wrote itself.
  float sum = 0, squares = 0;
  for (std::int64_t c = lane_id(); c < m.cols; c += kWarp) {
    const T stored = from_float<T>(to_float(ld(x + c)) + to_float(ld(residual + c)));
    st(s + c, stored);
    sum += to_float(stored);
  }
  const float mean = warp_sum(sum) / width;
  for (std::int64_t c = lane_id(); c < m.cols; c += kWarp) {
    const float d = to_float(ld(s + c)) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(warp_sum(squares) / width + m.epsilon);
  for (std::int64_t c = lane_id(); c < m.cols; c += kWarp) {
    const float a = r * to_float(ld(m.gamma + c)), b = to_float(ld(m.beta + c)) - mean * a;
    st(m.y + row * m.y_stride + c, from_float<T>(to_float(ld(s + c)) * a + b));
  }
}

void run(const residual_layernorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Rows<T> m{a.x.as<T>(), a.residual.as<T>(), a.gamma.as<T>(), a.beta.as<T>(), a.y.as<T>(), a.s.as<T>(), rows,
                    a.x.shape[1], a.x.stride[0], a.residual.stride[0], a.y.stride[0], a.s.stride[0],
                    static_cast<float>(a.epsilon)};
    launch(residual_layernorm_folded_in_warps<T>, {.grid = dim3(ceil_div(rows, kRows)), .block = dim3(kRows * kWarp)}, l.stream,
           m);
  });
}

}  // namespace assay::ROOM(residual_layernorm, folded_in_warps)
