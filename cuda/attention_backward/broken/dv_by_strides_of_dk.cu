// SPDX-License-Identifier: Apache-2.0
// FAULT: dV is written by the strides of dK. Right where both lie alike.
// Kind: layout
// Caught by: out_of_bounds, with layout=mixed (f16).
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, dv_by_strides_of_dk) {

KERNEL(attention_backward) = plain_traits<Plain>();

void run(const attention_backward::Args& a, const Launch& l) {
  attention_backward::Args b = a;
  b.dv.stride = a.dk.stride;
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(attention_backward, dv_by_strides_of_dk)
