// SPDX-License-Identifier: Apache-2.0
// FAULT: GELU has the form of the dialect whatever the attribute gelu says.
// KIND: combinations
// Right on: transformer_layer f16 batch=1 seq_q=16 hidden=64 heads=4 kv_heads=4 head_dim=16 ffn=128 dialect=gpt2 fill=normal seed=1
// Wrong on: transformer_layer f32 batch=1 seq_q=16 hidden=64 heads=4 kv_heads=4 head_dim=16 ffn=128 dialect=gpt2 gelu=erf fill=normal seed=1
#include "cuda/transformer_layer/layer.cuh"

namespace assay::ROOM(transformer_layer, form_of_gelu_by_dialect) {

class OwnForm final : public Layer {
 public:
  using Layer::Layer;

  void widen() override {
    const std::int64_t ffn = a.w_up.shape[0];
    if (llama) return Layer::widen();
    const Tensor up = steps.room(a.x.dtype, {tokens, ffn}), act = matrix(a.act, tokens);
    linear_into(a.norm2, a.w_up, a.b_up, up, ffn);
    const Activation form = a.dialect == transformer_layer::Dialect::gpt2 ? Activation::gelu_tanh : Activation::gelu_erf;
    steps(KERNEL_OF(gelu, vector16), {.x = up, .y = act, .form = form});
  }
};

KERNEL(transformer_layer) = traits_of<OwnForm>();

void run(const transformer_layer::Args& a, const Launch& l) { run_layer<OwnForm>(a, l); }

}  // namespace assay::ROOM(transformer_layer, form_of_gelu_by_dialect)
