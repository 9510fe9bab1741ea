// SPDX-License-Identifier: Apache-2.0
// FAULT: a warp stores its outputs in the ring before the others have read their last stage.
// Caught by: T4 on simt with --watch (shared_race).
#include "cuda/paged_attention/broken/pages.cuh"

namespace assay::ROOM(paged_attention, pages_joined_over_the_ring) {

struct Wrong : PagesSteps {
  __device__ static void before_join() {}
};
KERNEL_FROM(paged_attention, pages, Wrong);

}  // namespace assay::ROOM(paged_attention, pages_joined_over_the_ring)
