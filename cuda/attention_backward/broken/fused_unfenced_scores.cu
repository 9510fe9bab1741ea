// SPDX-License-Identifier: Apache-2.0
// FAULT: wgmma reads dS from shared memory without the fence after stmatrix.
// Caught by: T4 on simt (unfenced).
#include "cuda/attention_backward/broken/fused.cuh"

namespace assay::ROOM(attention_backward, fused_unfenced_scores) {

struct Wrong : FusedSteps {
  __device__ static void fence_scores() {}
};
KERNEL_FROM(attention_backward, fused, Wrong);

}  // namespace assay::ROOM(attention_backward, fused_unfenced_scores)
