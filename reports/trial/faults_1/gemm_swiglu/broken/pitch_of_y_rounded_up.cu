// SPDX-License-Identifier: Apache-2.0
// FAULT: the rows of y are taken to lie at multiples of 16 bytes, as in the kernel's own workspace.
// Kind: layout
// Shows: y packed, with an ffn that is no multiple of 8 (of 4 in f32), two tokens or more.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, pitch_of_y_rounded_up) {

KERNEL(gemm_swiglu) = plain_traits<Plain>();

void run(const gemm_swiglu::Args& a, const Launch& l) {
  gemm_swiglu::Args b = a;
  const std::int64_t pack = 16 / size_of(a.y.dtype);
  b.y.stride[0] = ceil_div(a.y.stride[0], pack) * pack;
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(gemm_swiglu, pitch_of_y_rounded_up)
