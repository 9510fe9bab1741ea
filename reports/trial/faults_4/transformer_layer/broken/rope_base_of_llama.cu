// SPDX-License-Identifier: Apache-2.0
// FAULT: rotates with base 10000 whatever the attribute says, as code written before long-context models. Visible with a base
// other than 10000 (500,000 of Llama 3).
// KIND: combinations
#include "cuda/transformer_layer/layer.cuh"

namespace assay::ROOM(transformer_layer, rope_base_of_llama) {

class Mine final : public Layer {
 public:
  using Layer::Layer;

  void turn() override {
    if (!a.rotates()) return;
    rope::Args r{.q = a.q0, .k = a.k0, .q_out = a.q, .k_out = a.k};
    r.rotary_dim = a.rotary();
    steps(KERNEL_OF(rope, vector16), r);
  }
};

KERNEL(transformer_layer) = traits_of<Mine>();

void run(const transformer_layer::Args& a, const Launch& l) { run_layer<Mine>(a, l); }

}  // namespace assay::ROOM(transformer_layer, rope_base_of_llama)
