// SPDX-License-Identifier: Apache-2.0
// FAULT: packs of 16 bytes are used where gate and y are aligned; whether up is, is not asked.
// Kind: layout
// Shows: an up with rows at other multiples than 16 bytes beside an aligned gate and y.
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/silu_mul.hpp"

namespace assay::ROOM(silu_mul, alignment_of_up_not_asked) {

inline constexpr int kThreads = 128;

template <class T, int N>
__global__ void silu_mul_packs(const T* gate, const T* up, T* y, std::int64_t cols, std::int64_t gate_stride,
                               std::int64_t up_stride, std::int64_t y_stride) {
  using Pack = Vec<T, N>;
  const std::int64_t row = blockIdx.x;
  gate += row * gate_stride, up += row * up_stride, y += row * y_stride;
  for (std::int64_t p = threadIdx.x; p < cols / N; p += kThreads) {
    const Pack g = ld(reinterpret_cast<const Pack*>(gate) + p), u = ld(reinterpret_cast<const Pack*>(up) + p);
    float v[N];
#pragma unroll
    for (int j = 0; j < N; ++j) v[j] = silu(to_float(g[j])) * to_float(u[j]);
    st(reinterpret_cast<Pack*>(y) + p, from_floats<T>(v));
  }
  for (std::int64_t c = cols / N * N + threadIdx.x; c < cols; c += kThreads)
    st(y + c, from_float<T>(silu(to_float(ld(gate + c))) * to_float(ld(up + c))));
}

KERNEL(silu_mul){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, kThreads * 16)},
    .numerics = {.accumulate = f32},
};

void run(const silu_mul::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    const bool wide = a.gate.rows_aligned(16) && a.y.rows_aligned(16);
    launch(wide ? silu_mul_packs<T, 16 / sizeof(T)> : silu_mul_packs<T, 1>,
           {.grid = dim3(a.y.shape[0]), .block = dim3(kThreads)}, l.stream, a.gate.as<T>(), a.up.as<T>(), a.y.as<T>(),
           a.y.shape[1], a.gate.stride[0], a.up.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(silu_mul, alignment_of_up_not_asked)
