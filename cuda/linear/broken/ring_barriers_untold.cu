// SPDX-License-Identifier: Apache-2.0
// FAULT: the copies are told of the first stage's barriers; the others are made after that.
// Caught by: T4 on simt (unfenced), more than 64 channels.
#include "cuda/linear/broken/ring.cuh"

namespace assay::ROOM(linear, ring_barriers_untold) {

struct Wrong : PlainRing {
  __device__ static void made(int s) {
    if (s == 0) barriers_ready();
  }
};
KERNEL_FROM(linear, ring, Wrong);

}  // namespace assay::ROOM(linear, ring_barriers_untold)
