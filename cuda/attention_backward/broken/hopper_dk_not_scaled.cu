// SPDX-License-Identifier: Apache-2.0
// FAULT: dK lacks the scale of the scores.
// Caught by: T1 on dK.
#include "cuda/attention_backward/broken/hopper.cuh"

namespace assay::ROOM(attention_backward, hopper_dk_not_scaled) {

struct Wrong : HopperSteps {
  __device__ static float key_factor(float /*scale*/) { return 1.0f; }
};
KERNEL_FROM(attention_backward, hopper, Wrong);

}  // namespace assay::ROOM(attention_backward, hopper_dk_not_scaled)
