// SPDX-License-Identifier: Apache-2.0
// FAULT: The kernel checks the alignment of all rows of x and w_gate, and of w_up only where it begins. Rows of w_up at strides
// that are no multiple of 16 bytes are loaded at misaligned addresses.
// Kind: layout
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gemm_swiglu.hpp"

namespace assay::ROOM(gemm_swiglu, up_rows_unaligned_but_first) {

KERNEL(gemm_swiglu){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void swiglu_tile(const T* x, const T* w_gate, const T* w_up, T* y, std::int64_t tokens, std::int64_t hidden, std::int64_t ffn, std::int64_t x_stride, std::int64_t gate_stride,
                            std::int64_t up_stride, std::int64_t y_stride, std::int64_t across, bool wide) {
  constexpr int N = 16 / sizeof(T);
  using Pack = Vec<T, N>;
  const std::int64_t token = blockIdx.x / across * 8 + threadIdx.y, f = blockIdx.x % across * 32 + threadIdx.x;
  if (token >= tokens || f >= ffn) return;
  x += token * x_stride, w_gate += f * gate_stride, w_up += f * up_stride;
  float gate = 0, up = 0;
  std::int64_t h = 0;
  for (; wide && h + N <= hidden; h += N) {
    const Pack a = ld(reinterpret_cast<const Pack*>(x + h)), g = ld(reinterpret_cast<const Pack*>(w_gate + h)),
               u = ld(reinterpret_cast<const Pack*>(w_up + h));
    for (int j = 0; j < N; ++j) {
      gate = fmaf(to_float(a[j]), to_float(g[j]), gate);
      up = fmaf(to_float(a[j]), to_float(u[j]), up);
    }
  }
  for (; h < hidden; ++h) {
    gate = fmaf(to_float(ld(x + h)), to_float(ld(w_gate + h)), gate);
    up = fmaf(to_float(ld(x + h)), to_float(ld(w_up + h)), up);
  }
  st(y + token * y_stride + f, from_float<T>(silu(gate) * up));
}

void run(const gemm_swiglu::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], ffn = a.y.shape[1], across = ceil_div(ffn, 32);
  if (tokens == 0 || ffn == 0) return;
  const bool wide = a.x.rows_aligned(16) && a.w_gate.rows_aligned(16) && reinterpret_cast<std::uintptr_t>(a.w_up.data) % 16 == 0;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(swiglu_tile<T>, {.grid = dim3(ceil_div(tokens, 8) * across), .block = dim3(32, 8)}, l.stream, a.x.as<T>(), a.w_gate.as<T>(),
           a.w_up.as<T>(), a.y.as<T>(), tokens, a.x.shape[1], ffn, a.x.stride[0], a.w_gate.stride[0], a.w_up.stride[0], a.y.stride[0],
           across, wide);
  });
}

}  // namespace assay::ROOM(gemm_swiglu, up_rows_unaligned_but_first)
