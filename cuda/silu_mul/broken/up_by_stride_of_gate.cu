// SPDX-License-Identifier: Apache-2.0
// FAULT: the rows of up are found by the stride of gate, as where both are halves of one tensor. Right where both lie alike.
// Kind: layout
// Caught by: out_of_bounds, with layout=mixed (f16).
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, up_by_stride_of_gate) {

KERNEL(silu_mul) = plain_traits<Plain>();

void run(const silu_mul::Args& a, const Launch& l) {
  silu_mul::Args b = a;
  b.up.stride = a.gate.stride;
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(silu_mul, up_by_stride_of_gate)
