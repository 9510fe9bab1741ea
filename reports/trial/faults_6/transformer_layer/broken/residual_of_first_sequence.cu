// SPDX-License-Identifier: Apache-2.0
// FAULT (layout): every sequence of the batch adds the residual of the first one at the end.
// Right on: transformer_layer f16 batch=1 seq_q=16 hidden=64 heads=4 kv_heads=4 head_dim=16 ffn=128 fill=normal seed=2
#include "cuda/transformer_layer/layer.cuh"

namespace assay::ROOM(transformer_layer, residual_of_first_sequence) {

class FirstResidual final : public Layer {
 public:
  using Layer::Layer;

  void add_second_residual() override {
    const std::int64_t seq = a.x.shape[1], hidden = a.x.shape[2], bytes = seq * hidden * size_of(a.x.dtype);
    const auto sequence = [&](const Tensor& t, std::int64_t b) {
      return dense(t.data == nullptr ? nullptr : static_cast<char*>(t.data) + b * bytes, a.x.dtype, {seq, hidden});
    };
    for (std::int64_t b = 0; b < a.x.shape[0]; ++b)
      steps(KERNEL_OF(add, vector16), {.a = sequence(a.h, 0), .b = sequence(a.mlp, b), .y = sequence(a.y, b)});
  }
};

KERNEL(transformer_layer) = traits_of<FirstResidual>();

void run(const transformer_layer::Args& a, const Launch& l) { run_layer<FirstResidual>(a, l); }

}  // namespace assay::ROOM(transformer_layer, residual_of_first_sequence)
