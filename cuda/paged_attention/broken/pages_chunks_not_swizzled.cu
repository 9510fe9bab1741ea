// SPDX-License-Identifier: Apache-2.0
// FAULT: a row's 16-byte chunks are read in order, but the copy has swizzled them.
// Caught by: T1, any case.
#include "cuda/paged_attention/broken/pages.cuh"

namespace assay::ROOM(paged_attention, pages_chunks_not_swizzled) {

struct Wrong : PagesSteps {
  __device__ static int chunk(int chunk, int /*row*/) { return chunk; }
};
KERNEL_FROM(paged_attention, pages, Wrong);

}  // namespace assay::ROOM(paged_attention, pages_chunks_not_swizzled)
