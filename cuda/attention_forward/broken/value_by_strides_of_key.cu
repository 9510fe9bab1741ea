// SPDX-License-Identifier: Apache-2.0
// FAULT: v is read by the strides of k, as where both come from one projection. Right where both lie alike.
// Kind: layout
// Caught by: the bound, with layout=mixed (f16).
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, value_by_strides_of_key) {

KERNEL(attention_forward) = plain_traits<Plain>();

void run(const attention_forward::Args& a, const Launch& l) {
  attention_forward::Args b = a;
  b.v.stride = a.k.stride;
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(attention_forward, value_by_strides_of_key)
