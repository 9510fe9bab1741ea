// SPDX-License-Identifier: Apache-2.0
// FAULT: the parts of two splits are added as they are, each relative to its own maximum.
// Caught by: T1, more than 256 positions.
#include "cuda/paged_attention/broken/pages.cuh"

namespace assay::ROOM(paged_attention, pages_parts_as_equals) {

struct Wrong : PagesSteps {
  __device__ static float part_factor(float /*max*/, float /*all*/) { return 1; }
};
KERNEL_FROM(paged_attention, pages, Wrong);

}  // namespace assay::ROOM(paged_attention, pages_parts_as_equals)
