// SPDX-License-Identifier: Apache-2.0
// FAULT: rows of x, gamma and the weight are read in packs of 16 bytes, if those of x are aligned; the others are not asked. A
// warp has an output.
// Kind: layout
// Shows: a weight or gamma that does not begin at a multiple of 16 bytes beside an aligned x.
#include "cuda/core/reduce.cuh"
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, packs_where_x_is_aligned) {

inline constexpr int kWarps = 4;

template <class T, int N>
__global__ void outputs_by_warps(Operands<T> p) {
  using Pack = Vec<T, N>;
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (at >= p.tokens * p.out) return;
  const std::int64_t token = at / p.out, o = at % p.out;
  const T* const x = p.x + token * p.x_stride;
  const T* const w = p.weight + o * p.weight_stride;
  float squares = 0;
  for (std::int64_t i = lane_id(); i < p.hidden / N; i += kWarp) {
    const Pack v = ld(reinterpret_cast<const Pack*>(x) + i);
#pragma unroll
    for (int j = 0; j < N; ++j) squares = fmaf(to_float(v[j]), to_float(v[j]), squares);
  }
  const float r = 1.0f / sqrtf(warp_sum(squares) / static_cast<float>(p.hidden) + p.epsilon);
  float sum = 0;
  for (std::int64_t i = lane_id(); i < p.hidden / N; i += kWarp) {
    const Pack v = ld(reinterpret_cast<const Pack*>(x) + i), g = ld(reinterpret_cast<const Pack*>(p.gamma) + i);
    const Pack f = ld(reinterpret_cast<const Pack*>(w) + i);
#pragma unroll
    for (int j = 0; j < N; ++j) sum = fmaf(to_float(v[j]) * r * to_float(g[j]), to_float(f[j]), sum);
  }
  sum = warp_sum(sum);
  if (lane_id() == 0) st(p.y + token * p.y_stride + o, from_float<T>(sum));
}

KERNEL(rmsnorm_gemm) = {.dtypes = kEveryType,
                        .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kWarps), tile(Axis::hidden, kWarp)},
                        .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5 + 8}}};

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    constexpr int N = 16 / sizeof(T);
    const Operands<T> p{a.x.as<T>(),   a.gamma.as<T>(), a.weight.as<T>(), a.y.as<T>(),        a.y.shape[0],  a.x.shape[1],
                        a.y.shape[1],  a.x.stride[0],   a.weight.stride[0], a.y.stride[0], static_cast<float>(a.epsilon)};
    const bool wide = a.x.rows_aligned(16) && p.hidden % N == 0;
    const dim3 grid(ceil_div(p.tokens * p.out, kWarps)), block(kWarps * kWarp);
    if (wide) launch(outputs_by_warps<T, N>, {.grid = grid, .block = block}, l.stream, p);
    else launch(outputs_by_warps<T, 1>, {.grid = grid, .block = block}, l.stream, p);
  });
}

}  // namespace assay::ROOM(rmsnorm_gemm, packs_where_x_is_aligned)
