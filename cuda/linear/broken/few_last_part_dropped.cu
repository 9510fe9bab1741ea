// SPDX-License-Identifier: Apache-2.0
// FAULT: the last part of the channels is multiplied and not added.
// Caught by: T1, so many channels that they are split.
#include "cuda/linear/broken/few.cuh"

namespace assay::ROOM(linear, few_last_part_dropped) {

struct Wrong : PlainFew {
  static hopper_few::Work joined(hopper_few::Work work) {
    --work.parts;
    return work;
  }
};
KERNEL_FROM(linear, few, Wrong);

}  // namespace assay::ROOM(linear, few_last_part_dropped)
