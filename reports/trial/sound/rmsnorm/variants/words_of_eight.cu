// SPDX-License-Identifier: Apache-2.0
// Two rows a block, two warps each; 8 bytes at once where x, gamma and y lie at multiples of 8, elements elsewhere and at the
// end.
// 1 / root by rsqrtf, within two units of the last place: 4 units of 2^-24, 3 of them the root's.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, words_of_eight) {

inline constexpr int kLanes = 2 * kWarp, kRows = 2;

// A thread's packs one after the other, then its elements at the end: 64 lanes and at most one element more than an even share of
// packs of four gives (4 + 1); five additions in a warp, one to join two.
KERNEL(rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kRows), tile_bytes(Axis::cols, kLanes * 8)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kLanes, .extra = 5 + 5 + 1}, .root_error = 3},
};

template <class T>
__global__ void rmsnorm_words_of_eight(const T* x, const T* gamma, T* y, std::int64_t rows, std::int64_t cols,
                                       std::int64_t x_stride, std::int64_t y_stride, float epsilon, bool wide) {
  constexpr int N = 8 / sizeof(T);
  using Pack = Vec<T, N>;
  float* const of_warps = shared_memory<float>();
  const int lane = static_cast<int>(threadIdx.x) % kLanes, group = static_cast<int>(threadIdx.x) / kLanes;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + group;
  const bool inside = row < rows;
  if (inside) x += row * x_stride, y += row * y_stride;
  const std::int64_t end = inside ? cols : 0, packs = wide ? end / N : 0;
  float squares = 0;
  for (std::int64_t p = lane; p < packs; p += kLanes) {
    const Pack v = ld(reinterpret_cast<const Pack*>(x) + p);
#pragma unroll
    for (int j = 0; j < N; ++j) squares = fmaf(to_float(v[j]), to_float(v[j]), squares);
  }
  for (std::int64_t c = packs * N + lane; c < end; c += kLanes) {
    const float v = to_float(ld(x + c));
    squares = fmaf(v, v, squares);
  }
  squares = warp_sum(squares);
  if (lane_id() == 0) st(of_warps + warp_id(), squares);
  sync_block();
  const float r = rsqrtf((ld(of_warps + 2 * group) + ld(of_warps + 2 * group + 1)) / static_cast<float>(cols) + epsilon);
  for (std::int64_t p = lane; p < packs; p += kLanes) {
    const Pack v = ld(reinterpret_cast<const Pack*>(x) + p), g = ld(reinterpret_cast<const Pack*>(gamma) + p);
    float out[N];
#pragma unroll
    for (int j = 0; j < N; ++j) out[j] = to_float(v[j]) * r * to_float(g[j]);
    st(reinterpret_cast<Pack*>(y) + p, from_floats<T>(out));
  }
  for (std::int64_t c = packs * N + lane; c < end; c += kLanes)
    st(y + c, from_float<T>(to_float(ld(x + c)) * r * to_float(ld(gamma + c))));
}

void run(const rmsnorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  const bool wide = a.x.rows_aligned(8) && a.gamma.rows_aligned(8) && a.y.rows_aligned(8);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_words_of_eight<T>,
           {.grid = dim3(ceil_div(rows, kRows)), .block = dim3(kRows * kLanes), .shared_bytes = 2 * kRows * sizeof(float)},
           l.stream, a.x.as<T>(), a.gamma.as<T>(), a.y.as<T>(), rows, a.x.shape[1], a.x.stride[0], a.y.stride[0],
           static_cast<float>(a.epsilon), wide);
  });
}

}  // namespace assay::ROOM(rmsnorm, words_of_eight)
