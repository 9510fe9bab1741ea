// SPDX-License-Identifier: Apache-2.0
// FAULT: a box stores the last, partial tile of a packed sequence, and so the first rows of the next sequence.
// Caught by: T1, T2 or T4, packed; right where no sequence follows, or where it is stored later.
#include "cuda/attention_forward/broken/hopper.cuh"

namespace assay::ROOM(attention_forward, hopper_packed_tail_by_box) {

struct Wrong : HopperSteps {
  __device__ static bool by_box(bool /*packed*/, int /*left*/) { return true; }
};
KERNEL_FROM(attention_forward, hopper, Wrong);

}  // namespace assay::ROOM(attention_forward, hopper_packed_tail_by_box)
