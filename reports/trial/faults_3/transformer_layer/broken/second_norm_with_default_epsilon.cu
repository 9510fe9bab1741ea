// SPDX-License-Identifier: Apache-2.0
// FAULT: the second norm has an epsilon of 1e-5, whatever the layer's is.
// Kind: algorithm
// Shows: an epsilon other than 1e-5.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, second_norm_with_default_epsilon) {

class DefaultEpsilon : public Layer {
 public:
  using Layer::Layer;
  void norm_second() override {
    const Tensor &x = parallel ? a.x : a.h, y = matrix(a.norm2, tokens);
    if (llama) steps(KERNEL_OF(rmsnorm, block_row), {.x = matrix(x, tokens), .gamma = a.gamma2, .y = y});
    else steps(KERNEL_OF(layernorm, block_row), {.x = matrix(x, tokens), .gamma = a.gamma2, .beta = a.beta2, .y = y});
  }
};
KERNEL_FROM(transformer_layer, plain, DefaultEpsilon);

}  // namespace assay::ROOM(transformer_layer, second_norm_with_default_epsilon)
