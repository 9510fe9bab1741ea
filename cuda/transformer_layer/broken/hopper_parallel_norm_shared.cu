// SPDX-License-Identifier: Apache-2.0
// FAULT: gptneox has one norm for both branches, as blocks with a single norm have it: norm2 is scaled by gamma1 and beta1.
// Caught by: the bound of stage norm2, of gptneox.
#include "cuda/core/kernel_family.cuh"
#include "cuda/transformer_layer/hopper.cuh"

namespace assay::ROOM(transformer_layer, hopper_parallel_norm_shared) {

struct Wrong final : Hopper {
  using Hopper::Hopper;
  void norm_second() override {
    if (parallel) norm(a.x, a.gamma1, a.beta1, a.norm2);
  }
};
KERNEL_FROM(transformer_layer, hopper, Wrong);

}  // namespace assay::ROOM(transformer_layer, hopper_parallel_norm_shared)
