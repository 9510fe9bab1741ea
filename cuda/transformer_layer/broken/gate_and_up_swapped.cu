// SPDX-License-Identifier: Apache-2.0
// FAULT: silu is taken of the up projection, and the gate multiplies it.
// Caught by: the bound of stage act, of llama.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, gate_and_up_swapped) {

struct Wrong final : Layer {
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
KERNEL_FROM(transformer_layer, plain, Wrong);

}  // namespace assay::ROOM(transformer_layer, gate_and_up_swapped)
