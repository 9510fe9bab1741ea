// SPDX-License-Identifier: Apache-2.0
// FAULT: the second norm is scaled by the gamma of the first.
// Caught by: the bound of stage norm2, where the gammas differ.
#include "cuda/transformer_layer/layer.cuh"

namespace assay::ROOM(transformer_layer, gamma_of_first_norm) {

class Wrong final : public Layer {
 public:
  using Layer::Layer;
  void norm_second() override { norm(parallel ? a.x : a.h, a.gamma1, a.beta2, a.norm2); }
};

KERNEL(transformer_layer){
    .dtypes = {f16, bf16, f32},
    .least_arch = 80,
    .tiles = {tile(Axis::seq_q, 128), tile(Axis::hidden, 128), tile(Axis::ffn, 128)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .of_output = numerics_of<Wrong>},
    .supports = supports<Wrong>,
    .workspace_bytes = workspace_bytes<Wrong>,
};

void run(const transformer_layer::Args& a, const Launch& l) { run_layer<Wrong>(a, l); }

}  // namespace assay::ROOM(transformer_layer, gamma_of_first_norm)
