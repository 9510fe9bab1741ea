// SPDX-License-Identifier: Apache-2.0
// FAULT: one warpgroup of two stores its rows by a box without the fence after stmatrix.
// Caught by: T4 on simt (unfenced), more than 64 tokens.
#include "cuda/linear/broken/ring.cuh"

namespace assay::ROOM(linear, ring_unfenced_store) {

struct Wrong : PlainRing {
  __device__ static void fence(int me) {
    if (me == 0) fence_shared_async();
  }
};
KERNEL_FROM(linear, ring, Wrong);

}  // namespace assay::ROOM(linear, ring_unfenced_store)
