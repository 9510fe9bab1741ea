// SPDX-License-Identifier: Apache-2.0
// FAULT: packs of 16 bytes are read and written if rows begin at multiples of 8 bytes. A warp has a row.
// Kind: layout
// Shows: rows that begin 8 bytes after a multiple of 16.
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, half_alignment_asked) {

inline constexpr int kWarps = 4;

template <class T, int N>
__global__ void rows_by_warps(Rows<T> m) {
  using Pack = Vec<T, N>;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;
  const std::int64_t packs = m.cols / N, tail = packs * N;
  const auto each = [&](auto&& use) {
    for (std::int64_t i = lane_id(); i < packs; i += kWarp) {
      const Pack v = ld(reinterpret_cast<const Pack*>(x) + i);
#pragma unroll
      for (int j = 0; j < N; ++j) use(to_float(v[j]));
    }
    for (std::int64_t c = tail + lane_id(); c < m.cols; c += kWarp) use(to_float(ld(x + c)));
  };
  float sum = 0, squares = 0;
  each([&](float v) { sum += v; });
  const float mean = warp_sum(sum) / static_cast<float>(m.cols);
  each([&](float v) { squares = fmaf(v - mean, v - mean, squares); });
  const float r = 1.0f / sqrtf(warp_sum(squares) / static_cast<float>(m.cols) + m.epsilon);
  const auto result = [&](float v, std::int64_t c) {
    return Plain<T>::affine(v, mean, r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)));
  };
  for (std::int64_t i = lane_id(); i < packs; i += kWarp) {
    const Pack v = ld(reinterpret_cast<const Pack*>(x) + i);
    float out[N];
#pragma unroll
    for (int j = 0; j < N; ++j) out[j] = result(to_float(v[j]), i * N + j);
    st(reinterpret_cast<Pack*>(y) + i, from_floats<T>(out));
  }
  for (std::int64_t c = tail + lane_id(); c < m.cols; c += kWarp) st(y + c, from_float<T>(result(to_float(ld(x + c)), c)));
}

KERNEL(layernorm) = {.dtypes = kEveryType,
                     .tiles = {tile(Axis::rows, kWarps), tile(Axis::cols, kWarp)},
                     .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5 + 9}}};

void run(const layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    constexpr int N = 16 / sizeof(T);
    const dim3 grid(ceil_div(a.x.shape[0], kWarps)), block(kWarps * kWarp);
    const bool wide = a.x.rows_aligned(8) && a.y.rows_aligned(8);
    if (wide) launch(rows_by_warps<T, N>, {.grid = grid, .block = block}, l.stream, row_norm::matrices<T>(a));
    else launch(rows_by_warps<T, 1>, {.grid = grid, .block = block}, l.stream, row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(layernorm, half_alignment_asked)
