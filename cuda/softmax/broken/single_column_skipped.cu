// SPDX-License-Identifier: Apache-2.0
// FAULT: one column is taken for nothing to do: y keeps what it held.
// Caught by: T1 or T0, and T4 by the two garbage patterns in y; cols = 1.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, single_column_skipped) {

KERNEL(softmax) = plain_traits<Plain>({f16, f32});

void run(const softmax::Args& a, const Launch& l) {
  if (a.x.shape[1] == 1) return;
  run_plain<Plain>(a, l);
}

}  // namespace assay::ROOM(softmax, single_column_skipped)
