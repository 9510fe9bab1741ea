// SPDX-License-Identifier: Apache-2.0
// FAULT: a single token has a path of its own, by a warp for each feature, that adds the channels after the last whole 64 to
// gate only.
// Kind: combinations
// Shows: one token with a hidden that 64 does not divide.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, one_token_loses_tail_of_up) {

template <class T>
__global__ void gemm_swiglu_one_token(Operands<T> p) {
  const std::int64_t f = blockIdx.x, whole = p.hidden / 64 * 64;
  const T* const gate_row = p.w_gate + f * p.gate_stride;
  const T* const up_row = p.w_up + f * p.up_stride;
  float gate = 0, up = 0;
  for (std::int64_t first = 0; first < whole; first += 64)
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const std::int64_t h = first + i * kWarp + lane_id();
      const float x = to_float(ld(p.x + h));
      gate = fmaf(x, to_float(ld(gate_row + h)), gate);
      up = fmaf(x, to_float(ld(up_row + h)), up);
    }
  for (std::int64_t h = whole + lane_id(); h < p.hidden; h += kWarp)
    gate = fmaf(to_float(ld(p.x + h)), to_float(ld(gate_row + h)), gate);
  for (int offset = kWarp / 2; offset > 0; offset /= 2) gate += shuffle_xor(gate, offset), up += shuffle_xor(up, offset);
  if (lane_id() == 0) st(p.y + f, from_float<T>(silu(gate) * up));
}

KERNEL(gemm_swiglu) = plain_traits<Plain>();

void run(const gemm_swiglu::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  if (a.y.shape[0] > 1) return run_plain<Plain>(a, l);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(gemm_swiglu_one_token<T>, {.grid = dim3(a.y.shape[1]), .block = dim3(kWarp)}, l.stream, operands_of<T>(a));
  });
}

}  // namespace assay::ROOM(gemm_swiglu, one_token_loses_tail_of_up)
