// SPDX-License-Identifier: Apache-2.0
// FAULT: a stage of Q is free for the next copy once dK has been issued, not once it is over.
// Caught by: T4 on simt (wgmma_reads), more blocks of queries than stages.
#include "cuda/attention_backward/broken/hopper.cuh"

namespace assay::ROOM(attention_backward, hopper_queries_released_early) {

struct Wrong : HopperSteps {
  __device__ static void keys_issued(Barrier* empty) { barrier_arrive(empty); }
  __device__ static void keys_over(Barrier* /*empty*/) {}
};
KERNEL_FROM(attention_backward, hopper, Wrong);

}  // namespace assay::ROOM(attention_backward, hopper_queries_released_early)
