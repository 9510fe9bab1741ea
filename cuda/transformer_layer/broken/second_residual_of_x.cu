// SPDX-License-Identifier: Apache-2.0
// FAULT: the second residual is x, not h: attention is lost from the stream.
// Caught by: the bound of stage y, on any fill.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, second_residual_of_x) {

struct Wrong final : Layer {
  using Layer::Layer;
  void add_second_residual() override { add_into(a.x, a.mlp, a.y); }
};
KERNEL_FROM(transformer_layer, plain, Wrong);

}  // namespace assay::ROOM(transformer_layer, second_residual_of_x)
