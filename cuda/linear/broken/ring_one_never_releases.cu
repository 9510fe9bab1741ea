// SPDX-License-Identifier: Apache-2.0
// FAULT: only the first of two warpgroups that share a tile says that it is done with a stage.
// Caught by: T4 on simt (deadlock), more steps than stages.
#include "cuda/linear/broken/ring.cuh"

namespace assay::ROOM(linear, ring_one_never_releases) {

struct Wrong : PlainRing {
  __device__ static void issued(RingSums& sums, Barrier* empty, int /*s*/, int before, bool lead) {
    if (before < 0) return;
    wgmma_wait<1>(sums);
    if (lead && threadIdx.x == 128) barrier_arrive(empty + before);
  }
};
KERNEL_FROM(linear, ring, Wrong);

}  // namespace assay::ROOM(linear, ring_one_never_releases)
