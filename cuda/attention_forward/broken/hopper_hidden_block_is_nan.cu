// SPDX-License-Identifier: Apache-2.0
// FAULT: -inf is subtracted from -inf where all keys of the first block are hidden.
// Caught by: the class of O, queries of which some see no key of a block.
#include "cuda/attention_forward/broken/hopper.cuh"

namespace assay::ROOM(attention_forward, hopper_hidden_block_is_nan) {

struct Wrong : HopperSteps {
  __device__ static float base(float max) { return max; }
};
KERNEL_FROM(attention_forward, hopper, Wrong);

}  // namespace assay::ROOM(attention_forward, hopper_hidden_block_is_nan)
