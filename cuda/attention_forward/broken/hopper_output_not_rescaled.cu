// SPDX-License-Identifier: Apache-2.0
// FAULT: when a larger score comes, the sum of weights shrinks and the output does not.
// Caught by: T1, more than 128 keys.
#include "cuda/attention_forward/broken/hopper.cuh"

namespace assay::ROOM(attention_forward, hopper_output_not_rescaled) {

struct Wrong : HopperSteps {
  __device__ static float rescaled(float o, float /*shrink*/) { return o; }
};
KERNEL_FROM(attention_forward, hopper, Wrong);

}  // namespace assay::ROOM(attention_forward, hopper_output_not_rescaled)
