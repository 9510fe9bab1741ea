// SPDX-License-Identifier: Apache-2.0
// FAULT: dO is read by the strides of O, though a gradient comes from elsewhere. Right where both lie alike.
// Kind: layout
// Caught by: the bound, with layout=mixed (f16).
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, d_o_by_strides_of_o) {

KERNEL(attention_backward) = plain_traits<Plain>();

void run(const attention_backward::Args& a, const Launch& l) {
  attention_backward::Args b = a;
  b.d_o.stride = a.o.stride;
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(attention_backward, d_o_by_strides_of_o)
