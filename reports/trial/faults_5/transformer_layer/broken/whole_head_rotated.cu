// SPDX-License-Identifier: Apache-2.0
// FAULT: rotary_dim is passed on as it is, and 0 means the whole head to rope, where gptneox rotates a quarter.
// KIND: algorithm
// Right on: transformer_layer f16 batch=1 seq_q=16 hidden=64 heads=4 kv_heads=4 head_dim=16 ffn=128 fill=normal seed=1
// Wrong on: transformer_layer f16 batch=1 seq_q=16 hidden=64 heads=4 kv_heads=4 head_dim=16 ffn=128 dialect=gptneox fill=normal seed=1
#include "cuda/transformer_layer/layer.cuh"

namespace assay::ROOM(transformer_layer, whole_head_rotated) {

class Turned final : public Layer {
 public:
  using Layer::Layer;

  void turn() override {
    if (!a.rotates()) return;
    rope::Args r{.q = a.q0, .k = a.k0, .q_out = a.q, .k_out = a.k};
    r.rotary_dim = a.rotary_dim, r.base = a.base;
    steps(KERNEL_OF(rope, vector16), r);
  }
};

KERNEL(transformer_layer) = traits_of<Turned>();

void run(const transformer_layer::Args& a, const Launch& l) { run_layer<Turned>(a, l); }

}  // namespace assay::ROOM(transformer_layer, whole_head_rotated)
