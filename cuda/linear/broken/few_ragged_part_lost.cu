// SPDX-License-Identifier: Apache-2.0
// FAULT: stages are divided among parts and the rest of the division is dropped.
// Caught by: T1, channels that are split unevenly.
#include "cuda/linear/broken/few.cuh"

namespace assay::ROOM(linear, few_ragged_part_lost) {

struct Wrong : PlainFew {
  static hopper_few::Work multiplied(hopper_few::Work work) {
    work.deep = work.stages / work.parts;
    return work;
  }
};
KERNEL_FROM(linear, few, Wrong);

}  // namespace assay::ROOM(linear, few_ragged_part_lost)
