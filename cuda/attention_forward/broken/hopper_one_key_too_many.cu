// SPDX-License-Identifier: Apache-2.0
// FAULT: the key after the last visible one is not hidden, in blocks that need a mask.
// Caught by: T1 and T0, causal or seq_k no multiple of 128.
#include "cuda/attention_forward/broken/hopper.cuh"

namespace assay::ROOM(attention_forward, hopper_one_key_too_many) {

struct Wrong : HopperSteps {
  __device__ static bool hidden(int column, int seen) { return column > seen; }
};
KERNEL_FROM(attention_forward, hopper, Wrong);

}  // namespace assay::ROOM(attention_forward, hopper_one_key_too_many)
