// SPDX-License-Identifier: Apache-2.0
// FAULT: gptneox always takes the erf form of GELU, also where the tanh form is asked for.
// Kind: combinations
// Shows: dialect=gptneox with gelu=tanh.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, explicit_tanh_lost_in_gptneox) {

class Erf : public Layer {
 public:
  using Layer::Layer;
  void widen() override {
    const std::int64_t ffn = a.w_up.shape[0];
    const Tensor up = steps.room(a.x.dtype, {tokens, ffn}), act = matrix(a.act, tokens);
    if (llama) {
      const Tensor gate = steps.room(a.x.dtype, {tokens, ffn});
      linear_into(a.norm2, a.w_gate, {}, gate, ffn);
      linear_into(a.norm2, a.w_up, {}, up, ffn);
      steps(KERNEL_OF(silu_mul, vector16), {.gate = gate, .up = up, .y = act});
      return;
    }
    linear_into(a.norm2, a.w_up, a.b_up, up, ffn);
    steps(KERNEL_OF(gelu, vector16), {.x = up, .y = act, .form = parallel ? Activation::gelu_erf : form()});
  }
};

KERNEL_FROM(transformer_layer, plain, Erf);

}  // namespace assay::ROOM(transformer_layer, explicit_tanh_lost_in_gptneox)
