// SPDX-License-Identifier: Apache-2.0
// A row a warp, five rows a block; SiLU as h + h tanh(h), h = gate / 2, by one FMA, which cancels for a negative gate, as
// declared.
#include "cuda/core/kernel.cuh"
#include "ops/silu_mul.hpp"

namespace assay::ROOM(silu_mul, tanh_in_warps) {

inline constexpr int kRows = 5;

KERNEL(silu_mul){.dtypes = {f16, bf16, f32},
                 .tiles = {tile(Axis::rows, kRows), tile(Axis::cols, kWarp)},
                 .numerics = {.accumulate = f32, .tanh_sigmoid = true}};

// Note: of an infinite gate the FMA is inf + inf, or -inf + inf, which is NaN as in the formula.
__device__ inline float silu_by_tanh(float gate) {
  const float h = 0.5f * gate;
  return fmaf(h, tanhf(h), h);
}

template <class T>
__global__ void silu_mul_tanh_in_warps(const T* gate, const T* up, T* y, std::int64_t rows, std::int64_t cols,
                                       std::int64_t gate_stride, std::int64_t up_stride, std::int64_t y_stride) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + warp_id();
  if (row >= rows) return;
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) {
    const float s = silu_by_tanh(to_float(ld(gate + row * gate_stride + c)));
    st(y + row * y_stride + c, from_float<T>(s * to_float(ld(up + row * up_stride + c))));
  }
}

void run(const silu_mul::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(silu_mul_tanh_in_warps<T>, {.grid = dim3(ceil_div(rows, kRows)), .block = dim3(kRows * kWarp)}, l.stream,
           a.gate.as<T>(), a.up.as<T>(), a.y.as<T>(), rows, cols, a.gate.stride[0], a.up.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(silu_mul, tanh_in_warps)
