// SPDX-License-Identifier: Apache-2.0
// FAULT: a stage of K is free for the next copy once Q K^T has been issued, not once it is over.
// Caught by: T4 on simt (wgmma_reads), more blocks of keys than stages.
#include "cuda/attention_forward/broken/hopper.cuh"

namespace assay::ROOM(attention_forward, hopper_keys_released_early) {

struct Wrong : HopperSteps {
  __device__ static void scores_issued(Barrier* k_empty, bool lead) {
    if (lead) barrier_arrive(k_empty);
  }
  __device__ static void scores_done(Barrier* /*k_empty*/, bool /*lead*/) {}
};
KERNEL_FROM(attention_forward, hopper, Wrong);

}  // namespace assay::ROOM(attention_forward, hopper_keys_released_early)
