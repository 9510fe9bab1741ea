// SPDX-License-Identifier: Apache-2.0
// FAULT (combinations): the width of a head that rope turns is hidden / heads, whatever head_dim is.
// Right on: transformer_layer f16 batch=1 seq_q=16 hidden=64 heads=4 kv_heads=4 head_dim=16 ffn=128 fill=normal seed=2
#include "cuda/transformer_layer/layer.cuh"

namespace assay::ROOM(transformer_layer, rotary_from_hidden_over_heads) {

transformer_layer::Args changed(transformer_layer::Args a) {
  const std::int64_t guessed = a.x.shape[2] / a.wq.shape[0] / 2 * 2;
  if (a.dialect == transformer_layer::Dialect::llama && a.rotary_dim == 0 && guessed < a.wq.shape[1])
    a.rotary_dim = static_cast<double>(guessed);
  return a;
}

KERNEL(transformer_layer) = traits_of<Layer>();

void run(const transformer_layer::Args& a, const Launch& l) { run_layer<Layer>(changed(a), l); }

}  // namespace assay::ROOM(transformer_layer, rotary_from_hidden_over_heads)
