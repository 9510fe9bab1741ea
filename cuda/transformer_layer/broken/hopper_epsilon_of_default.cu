// SPDX-License-Identifier: Apache-2.0
// FAULT: the residual with the norm after it gets no epsilon, and takes the default.
// Kind: combination
// Caught by: the bound of stage norm2, with fill=small_stream and another epsilon, in edges alone.
#include "cuda/core/kernel_family.cuh"
#include "cuda/transformer_layer/hopper.cuh"

namespace assay::ROOM(transformer_layer, hopper_epsilon_of_default) {

struct Wrong final : Hopper {
  using Hopper::Hopper;
  void add_residual() override {
    if (!llama) return Hopper::add_residual();
    steps(KERNEL_OF(residual_rmsnorm, block_row), {.x = matrix(a.x, tokens),
                                                   .residual = matrix(a.attn, tokens),
                                                   .gamma = a.gamma2,
                                                   .y = matrix(a.norm2, tokens),
                                                   .s = matrix(a.h, tokens)});
  }
};
KERNEL_FROM(transformer_layer, hopper, Wrong);

}  // namespace assay::ROOM(transformer_layer, hopper_epsilon_of_default)
