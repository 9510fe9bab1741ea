// SPDX-License-Identifier: Apache-2.0
// FAULT: dQ is written by the strides of Q.
// Kind: layout
// Shows: dQ and Q with different strides.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, d_query_laid_out_as_query) {

KERNEL(attention_backward) = plain_traits<Plain>();

void run(const attention_backward::Args& a, const Launch& l) {
  attention_backward::Args like_q = a;
  like_q.dq.stride = a.q.stride;
  run_plain<Plain>(like_q, l);
}

}  // namespace assay::ROOM(attention_backward, d_query_laid_out_as_query)
