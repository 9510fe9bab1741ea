// SPDX-License-Identifier: Apache-2.0
// FAULT: one query is taken for nothing to do: P keeps what it held.
// Caught by: T1, and T4 by the two garbage patterns in P; seq_q = 1.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, single_query_skipped) {

KERNEL(attention_scores) = plain_traits<Plain>({f16, f32});

void run(const attention_scores::Args& a, const Launch& l) {
  if (a.q.shape[1] == 1) return;
  run_plain<Plain>(a, l);
}

}  // namespace assay::ROOM(attention_scores, single_query_skipped)
