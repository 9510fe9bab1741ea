// SPDX-License-Identifier: Apache-2.0
// FAULT: the second norm of every dialect reads x, as only gptneox has it.
// Caught by: the bound of stage norm2, of llama and gpt2.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, branches_in_parallel) {

struct Wrong final : Layer {
  using Layer::Layer;
  void norm_second() override { norm(a.x, a.gamma2, a.beta2, a.norm2); }
};
KERNEL_FROM(transformer_layer, plain, Wrong);

}  // namespace assay::ROOM(transformer_layer, branches_in_parallel)
