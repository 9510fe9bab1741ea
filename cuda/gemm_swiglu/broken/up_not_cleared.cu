// SPDX-License-Identifier: Apache-2.0
// FAULT: a block takes four tokens one after the other and sets only gate to zero between them. Right for the first of four.
// Caught by: T1, with more than one token.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, up_not_cleared) {

inline constexpr int kTokens = 4;

KERNEL(gemm_swiglu) = plain_traits<Plain>({f16, f32});

template <class T>
__global__ void up_not_cleared(Operands<T> p) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kTokens;
  const std::int64_t f = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x;
  if (f >= p.ffn) return;
  const T *const w_gate = p.w_gate + f * p.gate_stride, *const w_up = p.w_up + f * p.up_stride;
  float gate = 0, up = 0;
  for (std::int64_t token = first; token < p.tokens && token < first + kTokens; ++token) {
    const T* const x = p.x + token * p.x_stride;
    gate = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) {
      gate = fmaf(to_float(ld(x + h)), to_float(ld(w_gate + h)), gate);
      up = fmaf(to_float(ld(x + h)), to_float(ld(w_up + h)), up);
    }
    st(p.y + token * p.y_stride + f, from_float<T>(silu(gate) * up));
  }
}

void run(const gemm_swiglu::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p = operands_of<T>(a);
    launch(up_not_cleared<T>,
           {.grid = dim3(ceil_div(p.tokens, kTokens), ceil_div(p.ffn, kPlainThreads)), .block = dim3(kPlainThreads)}, l.stream,
           p);
  });
}

}  // namespace assay::ROOM(gemm_swiglu, up_not_cleared)
