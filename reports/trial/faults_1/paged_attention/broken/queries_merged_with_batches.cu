// SPDX-License-Identifier: Apache-2.0
// FAULT: the queries of all sequences are taken for one list with one stride, so the batch stride of q is seq_q times its
// token stride.
// Kind: layout
// Shows: q with padded batches, two sequences or more.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, queries_merged_with_batches) {

KERNEL(paged_attention) = plain_traits<Plain>();

void run(const paged_attention::Args& a, const Launch& l) {
  paged_attention::Args b = a;
  b.q.stride[0] = a.q.shape[1] * a.q.stride[1];
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(paged_attention, queries_merged_with_batches)
