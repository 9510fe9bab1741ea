// SPDX-License-Identifier: Apache-2.0
// FAULT: a stage is free for the next copy once its product has been issued, not once it is over.
// Caught by: T4 on simt (wgmma_reads), more steps than stages.
#include "cuda/linear/broken/ring.cuh"

namespace assay::ROOM(linear, ring_early_release) {

struct Wrong : PlainRing {
  __device__ static void issued(RingSums& /*sums*/, Barrier* empty, int s, int /*before*/, bool lead) {
    if (lead) barrier_arrive(empty + s);
  }
  template <class Bias>
  __device__ static void finish(RingSums& sums, Barrier* /*empty*/, int /*last*/, bool /*lead*/, Bias&& add_bias) {
    wgmma_wait<0>(sums);
    add_bias(sums);
  }
};
KERNEL_FROM(linear, ring, Wrong);

}  // namespace assay::ROOM(linear, ring_early_release)
