// SPDX-License-Identifier: Apache-2.0
// FAULT: the batch stride of P is derived from its head stride.
// Kind: layout
// Shows: a P with a gap between batches, with batch > 1.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, p_batches_from_heads) {

KERNEL(attention_scores) = plain_traits<Plain>();

void run(const attention_scores::Args& a, const Launch& l) {
  attention_scores::Args b = a;
  b.p.stride[0] = a.p.shape[1] * a.p.stride[1];
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(attention_scores, p_batches_from_heads)
