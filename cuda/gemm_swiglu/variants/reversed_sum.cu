// SPDX-License-Identifier: Apache-2.0
// The naive kernel, its sums taken from the last channel to the first.
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gemm_swiglu.hpp"

namespace assay::ROOM(gemm_swiglu, reversed_sum) {

inline constexpr int kFfn = 32, kTokens = 4;

KERNEL(gemm_swiglu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kTokens), tile(Axis::ffn, kFfn)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void gemm_swiglu_reversed(const T* x, const T* w_gate, const T* w_up, T* y, std::int64_t tokens, std::int64_t hidden,
                                     std::int64_t ffn, std::int64_t x_stride, std::int64_t gate_stride, std::int64_t up_stride,
                                     std::int64_t y_stride, std::int64_t blocks_across) {
  const std::int64_t token = blockIdx.x / blocks_across * kTokens + threadIdx.y;
  const std::int64_t f = blockIdx.x % blocks_across * kFfn + threadIdx.x;
  if (token >= tokens || f >= ffn) return;
  x += token * x_stride;
  w_gate += f * gate_stride;
  w_up += f * up_stride;
  float gate = 0, up = 0;
  for (std::int64_t h = hidden - 1; h >= 0; --h) {
    const float v = to_float(ld(x + h));
    gate = fmaf(v, to_float(ld(w_gate + h)), gate);
    up = fmaf(v, to_float(ld(w_up + h)), up);
  }
  st(y + token * y_stride + f, from_float<T>(silu(gate) * up));
}

void run(const gemm_swiglu::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], ffn = a.y.shape[1], blocks_across = ceil_div(ffn, kFfn);
  if (tokens == 0 || ffn == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(gemm_swiglu_reversed<T>, {.grid = dim3(ceil_div(tokens, kTokens) * blocks_across), .block = dim3(kFfn, kTokens)},
           l.stream, a.x.as<T>(), a.w_gate.as<T>(), a.w_up.as<T>(), a.y.as<T>(), tokens, a.x.shape[1], ffn, a.x.stride[0],
           a.w_gate.stride[0], a.w_up.stride[0], a.y.stride[0], blocks_across);
  });
}

}  // namespace assay::ROOM(gemm_swiglu, reversed_sum)
