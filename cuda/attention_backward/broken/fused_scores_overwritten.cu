// SPDX-License-Identifier: Apache-2.0
// FAULT: dS of a step is written while dQ of the step before last may still be read from the same place.
// Caught by: T4 on simt (wgmma_reads), a third block of queries.
#include "cuda/attention_backward/broken/fused.cuh"

namespace assay::ROOM(attention_backward, fused_scores_overwritten) {

struct Wrong : FusedSteps {
  __device__ static void wait_for_scores(Barrier* /*free*/, int /*phase*/) {}
};
KERNEL_FROM(attention_backward, fused, Wrong);

}  // namespace assay::ROOM(attention_backward, fused_scores_overwritten)
