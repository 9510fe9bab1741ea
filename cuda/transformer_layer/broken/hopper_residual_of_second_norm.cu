// SPDX-License-Identifier: Apache-2.0
// FAULT: of gpt2, the second residual is y of the fused residual and norm, not its s: norm2 + mlp.
// Caught by: the bound of stage y, of gpt2.
#include "cuda/core/kernel_family.cuh"
#include "cuda/transformer_layer/hopper.cuh"

namespace assay::ROOM(transformer_layer, hopper_residual_of_second_norm) {

struct Wrong final : Hopper {
  using Hopper::Hopper;
  void add_second_residual() override { add_into(llama || parallel ? a.h : a.norm2, a.mlp, a.y); }
};
KERNEL_FROM(transformer_layer, hopper, Wrong);

}  // namespace assay::ROOM(transformer_layer, hopper_residual_of_second_norm)
