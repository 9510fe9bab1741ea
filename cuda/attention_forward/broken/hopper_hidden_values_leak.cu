// SPDX-License-Identifier: Apache-2.0
// FAULT: rows that a hidden NaN or infinity of V has spoilt are not computed again.
// Caught by: the class of O, a mask and a V that is not finite; right on all finite inputs.
#include "cuda/attention_forward/broken/hopper.cuh"

namespace assay::ROOM(attention_forward, hopper_hidden_values_leak) {

struct Wrong : HopperSteps {
  __device__ static bool mends(bool /*nan*/) { return false; }
};
KERNEL_FROM(attention_forward, hopper, Wrong);

}  // namespace assay::ROOM(attention_forward, hopper_hidden_values_leak)
