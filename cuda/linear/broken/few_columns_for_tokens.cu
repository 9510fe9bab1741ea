// SPDX-License-Identifier: Apache-2.0
// FAULT: as many rows of y are stored as the product has columns, a multiple of 8.
// Caught by: T4 on simt (out_of_bounds) or T2, tokens no multiple of 8 and split channels.
#include "cuda/linear/broken/few.cuh"

namespace assay::ROOM(linear, few_columns_for_tokens) {

struct Wrong : PlainFew {
  static hopper_few::Work joined(hopper_few::Work work) {
    work.tokens = (work.tokens + 7) / 8 * 8;
    return work;
  }
};
KERNEL_FROM(linear, few, Wrong);

}  // namespace assay::ROOM(linear, few_columns_for_tokens)
