// SPDX-License-Identifier: Apache-2.0
// FAULT: the start of a row of w_up is computed in whole packs of 8 or 4 elements, as is right for w_gate's check of alignment.
// Kind: layout
// Shows: w_gate with aligned rows and w_up with a stride that is no multiple of a pack.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, row_of_up_in_whole_packs) {

template <class T>
__global__ void gemm_swiglu_pack_rows(Operands<T> p, bool packed) {
  constexpr std::int64_t N = 16 / sizeof(T);
  const std::int64_t token = blockIdx.x, f = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x;
  if (f >= p.ffn) return;
  const T* const x = p.x + token * p.x_stride;
  const T* const gate_row = p.w_gate + f * p.gate_stride;
  const T* const up_row = p.w_up + (packed ? f * p.up_stride / N * N : f * p.up_stride);
  float gate = 0, up = 0;
  for (std::int64_t h = 0; h < p.hidden; ++h) {
    const float v = to_float(ld(x + h));
    gate = fmaf(v, to_float(ld(gate_row + h)), gate);
    up = fmaf(v, to_float(ld(up_row + h)), up);
  }
  st(p.y + token * p.y_stride + f, from_float<T>(silu(gate) * up));
}

KERNEL(gemm_swiglu) = plain_traits<Plain>();

void run(const gemm_swiglu::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p = operands_of<T>(a);
    launch(gemm_swiglu_pack_rows<T>, {.grid = dim3(p.tokens, ceil_div(p.ffn, kPlainThreads)), .block = dim3(kPlainThreads)},
           l.stream, p, a.w_gate.rows_aligned(16));
  });
}

}  // namespace assay::ROOM(gemm_swiglu, row_of_up_in_whole_packs)
