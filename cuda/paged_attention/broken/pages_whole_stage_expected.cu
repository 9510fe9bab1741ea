// SPDX-License-Identifier: Apache-2.0
// FAULT: a last stage, of which only some boxes are copied, waits for the bytes of all.
// Caught by: T4 on simt (deadlock), pages of less than 64 positions.
#include "cuda/paged_attention/broken/pages.cuh"

namespace assay::ROOM(paged_attention, pages_whole_stage_expected) {

struct Wrong : PagesSteps {
  __device__ static int positions_expected(int /*boxes*/, int /*box*/) { return kStagePositions; }
};
KERNEL_FROM(paged_attention, pages, Wrong);

}  // namespace assay::ROOM(paged_attention, pages_whole_stage_expected)
