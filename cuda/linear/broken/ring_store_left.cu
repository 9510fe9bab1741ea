// SPDX-License-Identifier: Apache-2.0
// FAULT: the block ends before the last rows of its second warpgroup are stored.
// Caught by: T4 on simt (left_behind), more than 64 tokens.
#include "cuda/linear/broken/ring.cuh"

namespace assay::ROOM(linear, ring_store_left) {

struct Wrong : PlainRing {
  __device__ static void stored(int me) {
    if (me == 0) store_wait<0>();
  }
};
KERNEL_FROM(linear, ring, Wrong);

}  // namespace assay::ROOM(linear, ring_store_left)
