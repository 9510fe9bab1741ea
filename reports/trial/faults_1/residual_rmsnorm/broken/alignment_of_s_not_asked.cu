// SPDX-License-Identifier: Apache-2.0
// FAULT: packs of 16 bytes are used where x, residual, gamma and y are aligned; whether s is, is not asked.
// Kind: layout
// Shows: an s with rows at other multiples than 16 bytes beside aligned others.
#include "cuda/core/row_norm.cuh"
#include "ops/residual_rmsnorm.hpp"

namespace assay::ROOM(residual_rmsnorm, alignment_of_s_not_asked) {

inline constexpr int kWarps = 4;
template <class T>
using Rows = row_norm::Matrices<T, residual_rmsnorm::Args>;

template <class T, int N>
__global__ void residual_rmsnorm_packs(Rows<T> m) {
  using Pack = Vec<T, N>;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id(), packs = m.cols / N;
  if (row >= m.rows) return;
  const auto* const x = reinterpret_cast<const Pack*>(m.x + row * m.x_stride);
  const auto* const residual = reinterpret_cast<const Pack*>(m.residual + row * m.residual_stride);
  auto* const s = reinterpret_cast<Pack*>(m.s + row * m.s_stride);
  auto* const y = reinterpret_cast<Pack*>(m.y + row * m.y_stride);
  float squares = 0;
  for (std::int64_t p = lane_id(); p < packs; p += kWarp) {
    const Pack a = ld(x + p), b = ld(residual + p);
    float v[N];
#pragma unroll
    for (int j = 0; j < N; ++j) {
      v[j] = to_float(from_float<T>(to_float(a[j]) + to_float(b[j])));
      squares = fmaf(v[j], v[j], squares);
    }
    st(s + p, from_floats<T>(v));
  }
  const float r = 1.0f / sqrtf(warp_sum(squares) / static_cast<float>(m.cols) + m.epsilon);
  for (std::int64_t p = lane_id(); p < packs; p += kWarp) {
    const Pack a = ld(s + p), gamma = ld(reinterpret_cast<const Pack*>(m.gamma) + p);
    float v[N];
#pragma unroll
    for (int j = 0; j < N; ++j) v[j] = to_float(a[j]) * r * to_float(gamma[j]);
    st(y + p, from_floats<T>(v));
  }
}

KERNEL(residual_rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kWarps), tile(Axis::cols, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}},
    .supports = residual_rmsnorm::rounded_alone,
};

void run(const residual_rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    constexpr int kWide = 16 / sizeof(T);
    const bool wide = a.x.shape[1] % kWide == 0 && a.x.rows_aligned(16) && a.residual.rows_aligned(16) &&
                      a.gamma.rows_aligned(16) && a.y.rows_aligned(16);
    launch(wide ? residual_rmsnorm_packs<T, kWide> : residual_rmsnorm_packs<T, 1>,
           {.grid = dim3(ceil_div(a.x.shape[0], kWarps)), .block = dim3(kWarps * kWarp)}, l.stream, row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(residual_rmsnorm, alignment_of_s_not_asked)
