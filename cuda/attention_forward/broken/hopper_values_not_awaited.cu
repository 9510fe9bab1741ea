// SPDX-License-Identifier: Apache-2.0
// FAULT: P V begins without a wait for V, which is copied after K.
// Caught by: T4 on simt (in_flight).
#include "cuda/attention_forward/broken/hopper.cuh"

namespace assay::ROOM(attention_forward, hopper_values_not_awaited) {

struct Wrong : HopperSteps {
  __device__ static void await_values(Barrier* /*full*/, int /*phase*/) {}
};
KERNEL_FROM(attention_forward, hopper, Wrong);

}  // namespace assay::ROOM(attention_forward, hopper_values_not_awaited)
