// SPDX-License-Identifier: Apache-2.0
// FAULT: wgmma_begin comes once a block, though the bias changes the sums of every tile.
// Caught by: T4 on simt (wgmma_unordered), several tiles a block.
#include "cuda/linear/broken/ring.cuh"

namespace assay::ROOM(linear, ring_one_begin) {

struct Wrong : PlainRing {
  __device__ static void begin(bool first_of_block) {
    if (first_of_block) wgmma_begin();
  }
};
KERNEL_FROM(linear, ring, Wrong);

}  // namespace assay::ROOM(linear, ring_one_begin)
