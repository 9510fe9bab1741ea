// SPDX-License-Identifier: Apache-2.0
// FAULT: one batch is taken to follow the other without a gap: seq times the stride of a row apart.
// Kind: layout
// Caught by: out_of_bounds, with layout=mixed (f16).
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, batches_touch) {

KERNEL(attention_forward) = plain_traits<Plain>();

void run(const attention_forward::Args& a, const Launch& l) {
  attention_forward::Args b = a;
  for (Tensor* t : {&b.q, &b.k, &b.v, &b.o}) t->stride[0] = t->shape[1] * t->stride[1];
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(attention_forward, batches_touch)
