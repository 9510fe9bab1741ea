// SPDX-License-Identifier: Apache-2.0
// FAULT: L = -inf of a query that sees no key is taken as it is, and its weights become infinite.
// Caught by: T1 and the class of dK and dV, more queries than keys.
#include "cuda/attention_backward/broken/hopper.cuh"

namespace assay::ROOM(attention_backward, hopper_unseen_query_counts) {

struct Wrong : HopperSteps {
  __device__ static float log_sum(float lse) { return lse * kLog2E; }
};
KERNEL_FROM(attention_backward, hopper, Wrong);

}  // namespace assay::ROOM(attention_backward, hopper_unseen_query_counts)
