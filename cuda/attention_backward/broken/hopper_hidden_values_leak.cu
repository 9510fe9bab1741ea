// SPDX-License-Identifier: Apache-2.0
// FAULT: rows that a hidden NaN or infinity has spoilt are not computed again.
// Caught by: the class of the gradients, a mask and values that are not finite; right on all finite inputs.
#include "cuda/attention_backward/broken/hopper.cuh"

namespace assay::ROOM(attention_backward, hopper_hidden_values_leak) {

struct Wrong : HopperSteps {
  __device__ static bool mends(unsigned /*rows*/) { return false; }
};
KERNEL_FROM(attention_backward, hopper, Wrong);

}  // namespace assay::ROOM(attention_backward, hopper_hidden_values_leak)
