// SPDX-License-Identifier: Apache-2.0
// FAULT: O of the next tile goes to the staging buffer while the last store may still read it.
// Caught by: T4 on simt (wgmma_reads), more tiles than blocks.
#include "cuda/attention_forward/broken/hopper.cuh"

namespace assay::ROOM(attention_forward, hopper_staging_overwritten) {

struct Wrong : HopperSteps {
  __device__ static void free_staging() {}
};
KERNEL_FROM(attention_forward, hopper, Wrong);

}  // namespace assay::ROOM(attention_forward, hopper_staging_overwritten)
