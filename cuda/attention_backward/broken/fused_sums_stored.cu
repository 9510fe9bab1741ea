// SPDX-License-Identifier: Apache-2.0
// FAULT: a block of keys stores its part of dQ over those of the others, in place of adding it.
// Caught by: T1 on dQ, a second block of keys; right where there is one.
#include "cuda/attention_backward/broken/fused.cuh"

namespace assay::ROOM(attention_backward, fused_sums_stored) {

struct Wrong : FusedSteps {
  __device__ static void add(const TensorMap& sums, const float* of_block, int row) { store_box(sums, of_block, 0, row); }
};
KERNEL_FROM(attention_backward, fused, Wrong);

}  // namespace assay::ROOM(attention_backward, fused_sums_stored)
