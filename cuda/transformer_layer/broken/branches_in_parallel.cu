// SPDX-License-Identifier: Apache-2.0
// FAULT: the second norm of every dialect reads x, as only gptneox has it.
// Caught by: the bound of stage norm2, of llama and gpt2.
#include "cuda/transformer_layer/layer.cuh"

namespace assay::ROOM(transformer_layer, branches_in_parallel) {

class Wrong final : public Layer {
 public:
  using Layer::Layer;
  void norm_second() override { norm(a.x, a.gamma2, a.beta2, a.norm2); }
};

KERNEL(transformer_layer) = traits_of<Wrong>();

void run(const transformer_layer::Args& a, const Launch& l) { run_layer<Wrong>(a, l); }

}  // namespace assay::ROOM(transformer_layer, branches_in_parallel)
