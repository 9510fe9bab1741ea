// SPDX-License-Identifier: Apache-2.0
// FAULT: the next tile is written over one that is still on its way out.
// Caught by: T4 on simt (wgmma_reads), several tiles a block.
#include "cuda/linear/broken/ring.cuh"

namespace assay::ROOM(linear, ring_buffer_reused) {

struct Wrong : PlainRing {
  __device__ static void free_buffer() {}
};
KERNEL_FROM(linear, ring, Wrong);

}  // namespace assay::ROOM(linear, ring_buffer_reused)
