// SPDX-License-Identifier: Apache-2.0
// FAULT: the bias is added while the last product still runs.
// Caught by: T1: the product ends after it, and its sums have no bias.
#include "cuda/linear/broken/ring.cuh"

namespace assay::ROOM(linear, ring_bias_while_running) {

struct Wrong : PlainRing {
  template <class Bias>
  __device__ static void finish(RingSums& sums, Barrier* empty, int last, bool lead, Bias&& add_bias) {
    add_bias(sums);
    wgmma_wait<0>(sums);
    if (lead) barrier_arrive(empty + last);
  }
};
KERNEL_FROM(linear, ring, Wrong);

}  // namespace assay::ROOM(linear, ring_bias_while_running)
