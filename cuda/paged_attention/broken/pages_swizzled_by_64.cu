// SPDX-License-Identifier: Apache-2.0
// FAULT: a row's 16-byte chunks are read where a swizzle of 64-byte rows would put them, but the copy has swizzled by 128.
// Caught by: T1, sequences of more than four positions.
#include "cuda/paged_attention/broken/pages.cuh"

namespace assay::ROOM(paged_attention, pages_swizzled_by_64) {

struct Wrong : PagesSteps {
  __device__ static int chunk(int chunk, int row) { return chunk ^ (row & 3); }
};
KERNEL_FROM(paged_attention, pages, Wrong);

}  // namespace assay::ROOM(paged_attention, pages_swizzled_by_64)
