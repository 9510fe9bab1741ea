// SPDX-License-Identifier: Apache-2.0
// FAULT: L is the logarithm to base 2, in which the weights are computed.
// Caught by: T1 on L.
#include "cuda/attention_forward/broken/hopper.cuh"

namespace assay::ROOM(attention_forward, hopper_lse_in_base_two) {

struct Wrong : HopperSteps {
  __device__ static float log_sum(float max, float scale, float total) { return fmaf(max * kLog2E, scale, log2f(total)); }
};
KERNEL_FROM(attention_forward, hopper, Wrong);

}  // namespace assay::ROOM(attention_forward, hopper_lse_in_base_two)
