// SPDX-License-Identifier: Apache-2.0
// FAULT: chooses GELU's form by the dialect and ignores the attribute gelu. Visible with dialect gpt2 and gelu=erf, or gptneox
// and gelu=tanh, by up to 0.0005 in act.
// KIND: combinations
#include "cuda/transformer_layer/layer.cuh"

namespace assay::ROOM(transformer_layer, gelu_of_dialect_only) {

class Mine final : public Layer {
 public:
  using Layer::Layer;

  void widen() override {
    if (llama) return Layer::widen();
    const Tensor up = steps.room(a.x.dtype, {tokens, a.w_up.shape[0]});
    linear_into(a.norm2, a.w_up, a.b_up, up, a.w_up.shape[0]);
    steps(KERNEL_OF(gelu, vector16),
          {.x = up, .y = matrix(a.act, tokens), .form = parallel ? Activation::gelu_erf : Activation::gelu_tanh});
  }
};

KERNEL(transformer_layer) = traits_of<Mine>();

void run(const transformer_layer::Args& a, const Launch& l) { run_layer<Mine>(a, l); }

}  // namespace assay::ROOM(transformer_layer, gelu_of_dialect_only)
