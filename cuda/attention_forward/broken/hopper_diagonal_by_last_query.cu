// SPDX-License-Identifier: Apache-2.0
// FAULT: a block of keys needs no mask if the last of 64 queries sees all of it; the others see less.
// Caught by: T1, causal, more than one query.
#include "cuda/attention_forward/broken/hopper.cuh"

namespace assay::ROOM(attention_forward, hopper_diagonal_by_last_query) {

struct Wrong : HopperSteps {
  __device__ static bool cut(int end, int /*seen*/, int seen_by_last) { return end > seen_by_last; }
};
KERNEL_FROM(attention_forward, hopper, Wrong);

}  // namespace assay::ROOM(attention_forward, hopper_diagonal_by_last_query)
