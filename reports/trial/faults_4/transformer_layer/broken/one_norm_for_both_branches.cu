// SPDX-License-Identifier: Apache-2.0
// FAULT: computes norm2 of gptneox with the weights of the first norm, as in GPT-J, whose parallel branches share one. The
// other dialects are right. Visible with dialect=gptneox.
// KIND: algorithm
#include "cuda/transformer_layer/layer.cuh"

namespace assay::ROOM(transformer_layer, one_norm_for_both_branches) {

class Mine final : public Layer {
 public:
  using Layer::Layer;

  void norm_second() override {
    if (parallel) norm(a.x, a.gamma1, a.beta1, a.norm2);
    else Layer::norm_second();
  }
};

KERNEL(transformer_layer) = traits_of<Mine>();

void run(const transformer_layer::Args& a, const Launch& l) { run_layer<Mine>(a, l); }

}  // namespace assay::ROOM(transformer_layer, one_norm_for_both_branches)
