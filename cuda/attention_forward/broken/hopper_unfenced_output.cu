// SPDX-License-Identifier: Apache-2.0
// FAULT: O is stored by a box without the fence after stmatrix.
// Caught by: T4 on simt (unfenced).
#include "cuda/attention_forward/broken/hopper.cuh"

namespace assay::ROOM(attention_forward, hopper_unfenced_output) {

struct Wrong : HopperSteps {
  __device__ static void fence() {}
};
KERNEL_FROM(attention_forward, hopper, Wrong);

}  // namespace assay::ROOM(attention_forward, hopper_unfenced_output)
