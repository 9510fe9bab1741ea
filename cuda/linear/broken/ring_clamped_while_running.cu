// SPDX-License-Identifier: Apache-2.0
// FAULT: sums are clamped to f16's range after each step, while the next one's product runs.
// Caught by: T4 on simt (wgmma_registers), more than 64 channels.
#include "cuda/linear/broken/ring.cuh"

namespace assay::ROOM(linear, ring_clamped_while_running) {

struct Wrong : PlainRing {
  __device__ static void issued(RingSums& sums, Barrier* empty, int s, int before, bool lead) {
    PlainRing::issued(sums, empty, s, before, lead);
#pragma unroll
    for (float& v : sums) v = before < 0 ? v : fminf(fmaxf(v, -65504.0f), 65504.0f);
  }
};
KERNEL_FROM(linear, ring, Wrong);

}  // namespace assay::ROOM(linear, ring_clamped_while_running)
