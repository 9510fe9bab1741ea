// SPDX-License-Identifier: Apache-2.0
// FAULT: a larger score rescales the sum of the weights, but not the output.
// Caught by: T1, more than 64 positions.
#include "cuda/paged_attention/broken/pages.cuh"

namespace assay::ROOM(paged_attention, pages_output_not_rescaled) {

struct Wrong : PagesSteps {
  __device__ static float rescaled(float o, float /*shrink*/) { return o; }
};
KERNEL_FROM(paged_attention, pages, Wrong);

}  // namespace assay::ROOM(paged_attention, pages_output_not_rescaled)
