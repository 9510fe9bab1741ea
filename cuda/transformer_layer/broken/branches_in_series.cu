// SPDX-License-Identifier: Apache-2.0
// FAULT: gptneox in series: its second norm reads x + attn, not x.
// Caught by: the bound of stage norm2, of gptneox.
#include "cuda/transformer_layer/layer.cuh"

namespace assay::ROOM(transformer_layer, branches_in_series) {

class Wrong final : public Layer {
 public:
  using Layer::Layer;
  void norm_second() override { norm(a.h, a.gamma2, a.beta2, a.norm2); }
};

KERNEL(transformer_layer) = traits_of<Wrong>();

void run(const transformer_layer::Args& a, const Launch& l) { run_layer<Wrong>(a, l); }

}  // namespace assay::ROOM(transformer_layer, branches_in_series)
