// SPDX-License-Identifier: Apache-2.0
// FAULT: dK and dV are of the first of the query heads that share a key.
// Caught by: T1 on dK and dV, grouped heads.
#include "cuda/attention_backward/broken/hopper.cuh"

namespace assay::ROOM(attention_backward, hopper_first_head_of_group) {

struct Wrong : HopperSteps {
  __device__ static int heads(int /*group*/) { return 1; }
};
KERNEL_FROM(attention_backward, hopper, Wrong);

}  // namespace assay::ROOM(attention_backward, hopper_first_head_of_group)
