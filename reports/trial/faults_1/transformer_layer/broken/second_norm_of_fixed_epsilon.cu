// SPDX-License-Identifier: Apache-2.0
// FAULT: the second norm has an epsilon of 1e-5, whatever the attribute says.
// Kind: algorithm
// Shows: an epsilon other than 1e-5, and rows of h that are small beside it.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, second_norm_of_fixed_epsilon) {

class Fixed : public Layer {
 public:
  using Layer::Layer;
  void norm_second() override {
    const Tensor x = matrix(parallel ? a.x : a.h, tokens), y = matrix(a.norm2, tokens);
    if (llama) steps(KERNEL_OF(rmsnorm, block_row), {.x = x, .gamma = a.gamma2, .y = y, .epsilon = 1e-5});
    else steps(KERNEL_OF(layernorm, block_row), {.x = x, .gamma = a.gamma2, .beta = a.beta2, .y = y, .epsilon = 1e-5});
  }
};

KERNEL(transformer_layer) = plain_traits<Fixed>();
void run(const transformer_layer::Args& a, const Launch& l) { run_plain<Fixed>(a, l); }

}  // namespace assay::ROOM(transformer_layer, second_norm_of_fixed_epsilon)
