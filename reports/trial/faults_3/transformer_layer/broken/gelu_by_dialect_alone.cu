// SPDX-License-Identifier: Apache-2.0
// FAULT: the form of GELU is that of the dialect, whatever the attribute gelu says.
// Kind: combinations
// Shows: gpt2 with gelu=erf, gptneox with gelu=tanh.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, gelu_by_dialect_alone) {

class ByDialect : public Layer {
 public:
  using Layer::Layer;
  void widen() override {
    if (llama) return Layer::widen();
    const std::int64_t ffn = a.w_up.shape[0];
    const Tensor up = steps.room(a.x.dtype, {tokens, ffn});
    linear_into(a.norm2, a.w_up, a.b_up, up, ffn);
    steps(KERNEL_OF(gelu, vector16),
          {.x = up, .y = matrix(a.act, tokens), .form = parallel ? Activation::gelu_erf : Activation::gelu_tanh});
  }
};
KERNEL_FROM(transformer_layer, plain, ByDialect);

}  // namespace assay::ROOM(transformer_layer, gelu_by_dialect_alone)
