// SPDX-License-Identifier: Apache-2.0
// FAULT: the batch stride of L is derived from its head stride, heads x stride, instead of taken.
// Kind: layout
// Shows: L whose batches are padded, two batches or more.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, lse_batches_from_heads) {

KERNEL(attention_forward) = plain_traits<Plain>();

void run(const attention_forward::Args& a, const Launch& l) {
  attention_forward::Args b = a;
  b.lse.stride[0] = a.lse.shape[1] * a.lse.stride[1];
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(attention_forward, lse_batches_from_heads)
