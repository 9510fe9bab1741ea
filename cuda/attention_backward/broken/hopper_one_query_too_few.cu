// SPDX-License-Identifier: Apache-2.0
// FAULT: a key does not get the gradient of the first query that sees it.
// Caught by: T1 on dK and dV, causal.
#include "cuda/attention_backward/broken/hopper.cuh"

namespace assay::ROOM(attention_backward, hopper_one_query_too_few) {

struct Wrong : HopperSteps {
  __device__ static bool hidden_query(int query, int seen_from) { return query <= seen_from; }
};
KERNEL_FROM(attention_backward, hopper, Wrong);

}  // namespace assay::ROOM(attention_backward, hopper_one_query_too_few)
