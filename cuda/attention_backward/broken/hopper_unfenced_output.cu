// SPDX-License-Identifier: Apache-2.0
// FAULT: gradients are stored by boxes without the fence after stmatrix.
// Caught by: T4 on simt (unfenced).
#include "cuda/attention_backward/broken/hopper.cuh"

namespace assay::ROOM(attention_backward, hopper_unfenced_output) {

struct Wrong : HopperSteps {
  __device__ static void fence() {}
};
KERNEL_FROM(attention_backward, hopper, Wrong);

}  // namespace assay::ROOM(attention_backward, hopper_unfenced_output)
