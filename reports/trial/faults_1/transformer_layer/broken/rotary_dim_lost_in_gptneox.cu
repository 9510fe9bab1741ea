// SPDX-License-Identifier: Apache-2.0
// FAULT: gptneox always turns a quarter of a head; the attribute rotary_dim is heeded in llama only.
// Kind: combinations
// Shows: dialect gptneox with a rotary_dim of its own.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, rotary_dim_lost_in_gptneox) {

class Quarter : public Layer {
 public:
  using Layer::Layer;
  void turn() override {
    if (!a.rotates()) return;
    rope::Args r = rotated(a.q0, a.k0, a.q, a.k);
    const std::int64_t quarter = a.wq.shape[1] / 8 * 2;
    if (a.dialect == transformer_layer::Dialect::gptneox && quarter > 0) r.rotary_dim = static_cast<double>(quarter);
    steps(KERNEL_OF(rope, vector16), r);
  }
};

KERNEL(transformer_layer) = plain_traits<Quarter>();
void run(const transformer_layer::Args& a, const Launch& l) { run_plain<Quarter>(a, l); }

}  // namespace assay::ROOM(transformer_layer, rotary_dim_lost_in_gptneox)
