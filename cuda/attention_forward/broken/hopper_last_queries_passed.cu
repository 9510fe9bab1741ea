// SPDX-License-Identifier: Apache-2.0
// FAULT: a warpgroup lets a tile pass unless all of its 64 queries are in the sequence.
// Caught by: T1 and T4, a number of queries that 64 does not divide.
#include "cuda/attention_forward/broken/hopper.cuh"

namespace assay::ROOM(attention_forward, hopper_last_queries_passed) {

struct Wrong : HopperSteps {
  __device__ static bool passes(int left) { return left < 64; }
};
KERNEL_FROM(attention_forward, hopper, Wrong);

}  // namespace assay::ROOM(attention_forward, hopper_last_queries_passed)
