// SPDX-License-Identifier: Apache-2.0
// FAULT (state): epsilon is that of the first call.
// Right on: transformer_layer f16 batch=1 seq_q=16 hidden=64 heads=4 kv_heads=4 head_dim=16 ffn=128 fill=normal seed=2
#include "cuda/transformer_layer/layer.cuh"

namespace assay::ROOM(transformer_layer, epsilon_of_first_call) {

KERNEL(transformer_layer) = traits_of<Layer>();

void run(const transformer_layer::Args& a, const Launch& l) {
  static const double epsilon = a.epsilon;
  transformer_layer::Args changed = a;
  changed.epsilon = epsilon;
  run_layer<Layer>(changed, l);
}

}  // namespace assay::ROOM(transformer_layer, epsilon_of_first_call)
