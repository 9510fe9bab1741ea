// SPDX-License-Identifier: Apache-2.0
// FAULT: silu is taken of the up projection, and the gate multiplies it.
// Caught by: the bound of stage act, of llama.
#include "cuda/transformer_layer/layer.cuh"

namespace assay::ROOM(transformer_layer, gate_and_up_swapped) {

class Wrong final : public Layer {
 public:
  using Layer::Layer;
  void widen() override {
    if (!llama) return Layer::widen();
    const std::int64_t ffn = a.w_up.shape[0];
    const Tensor gate = steps.room(a.x.dtype, {tokens, ffn}), up = steps.room(a.x.dtype, {tokens, ffn});
    linear_into(a.norm2, a.w_up, {}, gate, ffn);
    linear_into(a.norm2, a.w_gate, {}, up, ffn);
    steps(KERNEL_OF(silu_mul, vector16), {.gate = gate, .up = up, .y = matrix(a.act, tokens)});
  }
};

KERNEL(transformer_layer) = traits_of<Wrong>();

void run(const transformer_layer::Args& a, const Launch& l) { run_layer<Wrong>(a, l); }

}  // namespace assay::ROOM(transformer_layer, gate_and_up_swapped)
