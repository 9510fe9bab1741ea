// SPDX-License-Identifier: Apache-2.0
// FAULT: the second residual is x, not h: attention is lost from the stream.
// Caught by: the bound of stage y, on any fill.
#include "cuda/transformer_layer/layer.cuh"

namespace assay::ROOM(transformer_layer, second_residual_of_x) {

class Wrong final : public Layer {
 public:
  using Layer::Layer;
  void add_second_residual() override { add_into(a.x, a.mlp, a.y); }
};

KERNEL(transformer_layer) = traits_of<Wrong>();

void run(const transformer_layer::Args& a, const Launch& l) { run_layer<Wrong>(a, l); }

}  // namespace assay::ROOM(transformer_layer, second_residual_of_x)
