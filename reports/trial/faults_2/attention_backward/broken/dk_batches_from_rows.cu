// SPDX-License-Identifier: Apache-2.0
// FAULT: the batch stride of dK is derived from its row stride, as if batches followed each other without a gap.
// Kind: layout
// Shows: a dK whose batches are further apart than seq_k rows, with batch > 1.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, dk_batches_from_rows) {

KERNEL(attention_backward) = plain_traits<Plain>();

void run(const attention_backward::Args& a, const Launch& l) {
  attention_backward::Args b = a;
  b.dk.stride[0] = a.dk.shape[1] * a.dk.stride[1];
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(attention_backward, dk_batches_from_rows)
