// SPDX-License-Identifier: Apache-2.0
// FAULT: dQ takes the key after the last visible one, in blocks that need a mask.
// Caught by: T1 on dQ, causal.
#include "cuda/attention_backward/broken/hopper.cuh"

namespace assay::ROOM(attention_backward, hopper_one_key_too_many) {

struct Wrong : HopperSteps {
  __device__ static bool hidden_key(int column, int seen) { return column > seen; }
};
KERNEL_FROM(attention_backward, hopper, Wrong);

}  // namespace assay::ROOM(attention_backward, hopper_one_key_too_many)
