// SPDX-License-Identifier: Apache-2.0
// FAULT: a block takes four tokens one after the other and sets only gate to zero between them. Right for the first of four.
// Caught by: T1, with more than one token.
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gemm_swiglu.hpp"

namespace assay::ROOM(gemm_swiglu, up_not_cleared) {

inline constexpr int kThreads = 64;

KERNEL(gemm_swiglu){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::ffn, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

inline constexpr int kTokens = 4;

template <class T>
__global__ void up_not_cleared(const T* x, const T* w_gate, const T* w_up, T* y, std::int64_t tokens, std::int64_t hidden,
                               std::int64_t ffn, std::int64_t x_stride, std::int64_t gate_stride, std::int64_t up_stride,
                               std::int64_t y_stride) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kTokens;
  const std::int64_t f = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  if (f >= ffn) return;
  w_gate += f * gate_stride, w_up += f * up_stride;
  float gate = 0, up = 0;
  for (std::int64_t token = first; token < tokens && token < first + kTokens; ++token) {
    gate = 0;
    for (std::int64_t h = 0; h < hidden; ++h) {
      gate = fmaf(to_float(ld(x + token * x_stride + h)), to_float(ld(w_gate + h)), gate);
      up = fmaf(to_float(ld(x + token * x_stride + h)), to_float(ld(w_up + h)), up);
    }
    st(y + token * y_stride + f, from_float<T>(silu(gate) * up));
  }
}

void run(const gemm_swiglu::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], ffn = a.y.shape[1];
  if (tokens == 0 || ffn == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(up_not_cleared<T>, {.grid = dim3(ceil_div(tokens, kTokens), ceil_div(ffn, kThreads)), .block = dim3(kThreads)},
           l.stream, a.x.as<T>(), a.w_gate.as<T>(), a.w_up.as<T>(), a.y.as<T>(), tokens, a.x.shape[1], ffn, a.x.stride[0],
           a.w_gate.stride[0], a.w_up.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(gemm_swiglu, up_not_cleared)
