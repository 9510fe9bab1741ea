// SPDX-License-Identifier: Apache-2.0
// FAULT: keys are read without a wait for their copy.
// Caught by: T4 on simt (in_flight), any case.
#include "cuda/paged_attention/broken/pages.cuh"

namespace assay::ROOM(paged_attention, pages_not_awaited) {

struct Wrong : PagesSteps {
  __device__ static void await(Barrier* /*full*/, int /*phase*/) {}
};
KERNEL_FROM(paged_attention, pages, Wrong);

}  // namespace assay::ROOM(paged_attention, pages_not_awaited)
