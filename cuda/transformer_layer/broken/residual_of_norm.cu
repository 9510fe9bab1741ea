// SPDX-License-Identifier: Apache-2.0
// FAULT: of gpt2, the residual is the normalised stream: n + attn, as the blocks of the model before it have it.
// Caught by: the bound of stage h, on any fill.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, residual_of_norm) {

struct Wrong final : Layer {
  using Layer::Layer;
  void add_residual() override {
    if (a.dialect != transformer_layer::Dialect::gpt2) return Layer::add_residual();
    const Tensor n = steps.room(a.x.dtype, {tokens, a.x.shape[2]});
    norm(a.x, a.gamma1, a.beta1, n);
    add_into(n, a.attn, a.h);
  }
};
KERNEL_FROM(transformer_layer, plain, Wrong);

}  // namespace assay::ROOM(transformer_layer, residual_of_norm)
