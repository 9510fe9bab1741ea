// SPDX-License-Identifier: Apache-2.0
// FAULT: llama rotates whole heads, whatever rotary_dim says.
// Kind: combinations
// Shows: dialect=llama with a rotary_dim.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, llama_turns_whole_heads) {

class WholeHeads : public Layer {
 public:
  using Layer::Layer;
  void turn() override {
    if (!a.rotates()) return;
    rope::Args r = rotated(a.q0, a.k0, a.q, a.k);
    if (llama) r.rotary_dim = 0;
    steps(KERNEL_OF(rope, vector16), r);
  }
};
KERNEL_FROM(transformer_layer, plain, WholeHeads);

}  // namespace assay::ROOM(transformer_layer, llama_turns_whole_heads)
