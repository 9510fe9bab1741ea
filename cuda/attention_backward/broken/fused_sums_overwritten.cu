// SPDX-License-Identifier: Apache-2.0
// FAULT: dQ of a block is written to shared memory while the block before may still be read, to be added.
// Caught by: T4 on simt (wgmma_reads), a second block of queries.
#include "cuda/attention_backward/broken/fused.cuh"

namespace assay::ROOM(attention_backward, fused_sums_overwritten) {

struct Wrong : FusedSteps {
  __device__ static void wait_for_sums() {}
};
KERNEL_FROM(attention_backward, fused, Wrong);

}  // namespace assay::ROOM(attention_backward, fused_sums_overwritten)
