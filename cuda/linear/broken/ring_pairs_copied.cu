// SPDX-License-Identifier: Apache-2.0
// FAULT: steps are copied in pairs and multiplied one by one, so an odd last one leaves a copy that nobody takes.
// Caught by: T4 on simt (left_behind), an odd number of steps.
#include "cuda/linear/broken/ring.cuh"

namespace assay::ROOM(linear, ring_pairs_copied) {

struct Wrong : PlainRing {
  __device__ static int copied(int steps) { return (steps + 1) / 2 * 2; }
};
KERNEL_FROM(linear, ring, Wrong);

}  // namespace assay::ROOM(linear, ring_pairs_copied)
