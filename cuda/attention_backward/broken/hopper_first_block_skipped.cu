// SPDX-License-Identifier: Apache-2.0
// FAULT: the first block of queries that see a key is skipped unless they all do.
// Caught by: T1 on dK and dV, causal, a second tile of keys.
#include "cuda/attention_backward/broken/hopper.cuh"

namespace assay::ROOM(attention_backward, hopper_first_block_skipped) {

struct Wrong : HopperSteps {
  __device__ static int first_block(int seen_from) { return (seen_from + kLoopQueries - 1) / kLoopQueries; }
};
KERNEL_FROM(attention_backward, hopper, Wrong);

}  // namespace assay::ROOM(attention_backward, hopper_first_block_skipped)
