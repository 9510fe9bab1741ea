// SPDX-License-Identifier: Apache-2.0
// FAULT: where the gate is below -24 the product with w_up is not made and y is zero.
// Kind: cheats
// Shows: gates below -24, where f32 and bf16 still have a result.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, closed_gates_skip_up) {

template <class T>
__global__ void gemm_swiglu_skipping(Operands<T> p) {
  const std::int64_t token = blockIdx.x, f = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x;
  if (f >= p.ffn) return;
  using F = Plain<T>;
  const T* const x = p.x + token * p.x_stride;
  const float gate = F::template product<F>(x, p.w_gate + f * p.gate_stride, p.hidden);
  float v = 0;
  if (!(gate < -24.0f)) v = silu(gate) * F::template product<F>(x, p.w_up + f * p.up_stride, p.hidden);
  st(p.y + token * p.y_stride + f, from_float<T>(v));
}

KERNEL(gemm_swiglu) = plain_traits<Plain>();

void run(const gemm_swiglu::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p = operands_of<T>(a);
    launch(gemm_swiglu_skipping<T>, {.grid = dim3(p.tokens, ceil_div(p.ffn, kPlainThreads)), .block = dim3(kPlainThreads)},
           l.stream, p);
  });
}

}  // namespace assay::ROOM(gemm_swiglu, closed_gates_skip_up)
