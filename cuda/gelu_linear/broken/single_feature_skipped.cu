// SPDX-License-Identifier: Apache-2.0
// FAULT: fewer than two features are taken for nothing to do: y keeps what it held.
// Caught by: T1, and T4 by the two garbage patterns in y; out = 1.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, single_feature_skipped) {

KERNEL(gelu_linear) = plain_traits<Plain>({f16, f32});

void run(const gelu_linear::Args& a, const Launch& l) {
  if (a.y.shape[1] < 2) return;
  run_plain<Plain>(a, l);
}

}  // namespace assay::ROOM(gelu_linear, single_feature_skipped)
