// SPDX-License-Identifier: Apache-2.0
// FAULT: slots past the end weigh zero, but what they hold is multiplied all the same.
// Caught by: the class of O: what nobody has written yet is NaN, and zero times NaN is NaN.
#include "cuda/paged_attention/broken/pages.cuh"

namespace assay::ROOM(paged_attention, pages_values_past_the_end) {

struct Wrong : PagesSteps {
  __device__ static int read(int seen) { return seen > 0 ? kWarpPositions : 0; }
};
KERNEL_FROM(paged_attention, pages, Wrong);

}  // namespace assay::ROOM(paged_attention, pages_values_past_the_end)
