// SPDX-License-Identifier: Apache-2.0
// FAULT: the position after the last visible one is not hidden.
// Caught by: T1 and the class of O, any length that is no multiple of 16.
#include "cuda/paged_attention/broken/pages.cuh"

namespace assay::ROOM(paged_attention, pages_one_position_too_many) {

struct Wrong : PagesSteps {
  __device__ static bool hidden(int position, int seen) { return position > seen; }
};
KERNEL_FROM(paged_attention, pages, Wrong);

}  // namespace assay::ROOM(paged_attention, pages_one_position_too_many)
