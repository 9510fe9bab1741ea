// SPDX-License-Identifier: Apache-2.0
// FAULT: the batch stride of dQ is derived from its token stride, seq_q x stride, instead of taken.
// Kind: layout
// Shows: dQ whose batches are padded, or whose axes lie in another order than its shape's, with two batches or more.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, dq_batches_from_tokens) {

KERNEL(attention_backward) = plain_traits<Plain>();

void run(const attention_backward::Args& a, const Launch& l) {
  attention_backward::Args b = a;
  b.dq.stride[0] = a.dq.shape[1] * a.dq.stride[1];
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(attention_backward, dq_batches_from_tokens)
