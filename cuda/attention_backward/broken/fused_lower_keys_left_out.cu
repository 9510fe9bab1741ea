// SPDX-License-Identifier: Apache-2.0
// FAULT: dQ is summed over the upper 64 of 128 keys.
// Caught by: T1 on dQ.
#include "cuda/attention_backward/broken/fused.cuh"

namespace assay::ROOM(attention_backward, fused_lower_keys_left_out) {

struct Wrong : FusedSteps {
  static constexpr int kFirstProduct = 4;
};
KERNEL_FROM(attention_backward, fused, Wrong);

}  // namespace assay::ROOM(attention_backward, fused_lower_keys_left_out)
