// SPDX-License-Identifier: Apache-2.0
// FAULT: a stage is free for the next copy once its keys have been read, while its values still are.
// Caught by: T4 on simt (in_flight), more steps than stages.
#include "cuda/paged_attention/broken/pages.cuh"

namespace assay::ROOM(paged_attention, pages_released_early) {

struct Wrong : PagesSteps {
  __device__ static void scores_done(Barrier* empty, int lane) {
    sync_warp();
    if (lane == 0) barrier_arrive(empty);
  }
  __device__ static void values_done(Barrier* /*empty*/, int /*lane*/) {}
};
KERNEL_FROM(paged_attention, pages, Wrong);

}  // namespace assay::ROOM(paged_attention, pages_released_early)
