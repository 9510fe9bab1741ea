// SPDX-License-Identifier: Apache-2.0
// FAULT: rope takes the tokens of all sequences as one sequence, so later sequences begin at the positions after the first.
// Kind: algorithm
// Shows: more than one sequence, in llama and gptneox.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, positions_run_on_over_batch) {

class RunsOn : public Layer {
 public:
  using Layer::Layer;
  void turn() override {
    if (!a.rotates()) return;
    const auto one = [&](const Tensor& t) { return dense(t.data, t.dtype, {1, tokens, t.shape[2], t.shape[3]}); };
    steps(KERNEL_OF(rope, vector16), rotated(one(a.q0), one(a.k0), one(a.q), one(a.k)));
  }
};
KERNEL_FROM(transformer_layer, plain, RunsOn);

}  // namespace assay::ROOM(transformer_layer, positions_run_on_over_batch)
