// SPDX-License-Identifier: Apache-2.0
// FAULT: a warpgroup lets a tile pass if fewer than 16 of its queries, those of a warp, are in the sequence.
// Caught by: T1 and T4, a last group of fewer than 16 queries.
#include "cuda/attention_forward/broken/hopper.cuh"

namespace assay::ROOM(attention_forward, hopper_last_queries_passed) {

struct Wrong : HopperSteps {
  __device__ static bool passes(int left) { return left < 16; }
};
KERNEL_FROM(attention_forward, hopper, Wrong);

}  // namespace assay::ROOM(attention_forward, hopper_last_queries_passed)
