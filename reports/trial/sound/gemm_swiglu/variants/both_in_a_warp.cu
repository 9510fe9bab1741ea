// SPDX-License-Identifier: Apache-2.0
// A warp an output: it reads the token once for both products, each in 32 lanes; its silu by exp2 of |gate| log2(e), whose
// constant
// and product are two roundings more.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/gemm_swiglu.hpp"

namespace assay::ROOM(gemm_swiglu, both_in_a_warp) {

inline constexpr int kWarps = 5;

KERNEL(gemm_swiglu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::ffn, kWarps), tile(Axis::hidden, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}, .exponent_error = 2},
};

template <class T>
__global__ void gemm_swiglu_both_in_a_warp(const T* x, const T* w_gate, const T* w_up, T* y, std::int64_t all,
                                           std::int64_t hidden, std::int64_t ffn, std::int64_t x_stride, std::int64_t gate_stride,
                                           std::int64_t up_stride, std::int64_t y_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (i >= all) return;
  const std::int64_t token = i / ffn, f = i - token * ffn;
  float gate = 0, up = 0;
  for (std::int64_t h = lane_id(); h < hidden; h += kWarp) {
    const float v = to_float(ld(x + token * x_stride + h));
    gate = fmaf(v, to_float(ld(w_gate + f * gate_stride + h)), gate);
    up = fmaf(v, to_float(ld(w_up + f * up_stride + h)), up);
  }
  gate = warp_sum(gate), up = warp_sum(up);
  const float t = exp2f(-fabsf(gate) * 1.4426950408889634f);
  if (lane_id() == 0) st(y + token * y_stride + f, from_float<T>((gate < 0.0f ? gate * t : gate) / (1.0f + t) * up));
}

void run(const gemm_swiglu::Args& a, const Launch& l) {
  const std::int64_t all = a.y.size();
  if (all == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(gemm_swiglu_both_in_a_warp<T>, {.grid = dim3(ceil_div(all, kWarps)), .block = dim3(kWarps * kWarp)}, l.stream,
           a.x.as<T>(), a.w_gate.as<T>(), a.w_up.as<T>(), a.y.as<T>(), all, a.x.shape[1], a.y.shape[1], a.x.stride[0],
           a.w_gate.stride[0], a.w_up.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(gemm_swiglu, both_in_a_warp)
