// SPDX-License-Identifier: Apache-2.0
// FAULT: the copies of the first step alone are waited for.
// Caught by: T4 on simt (in_flight or wgmma_reads), more than 64 channels.
#include "cuda/linear/broken/ring.cuh"

namespace assay::ROOM(linear, ring_missing_wait) {

struct Wrong : PlainRing {
  __device__ static void arrived(Barrier* full, int phase, int k) {
    if (k == 0) barrier_wait(full, phase);
  }
};
KERNEL_FROM(linear, ring, Wrong);

}  // namespace assay::ROOM(linear, ring_missing_wait)
