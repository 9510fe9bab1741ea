// SPDX-License-Identifier: Apache-2.0
// FAULT: gptneox turns a quarter of head_dim rounded up to a whole pair, where it should be rounded down.
// Kind: algorithm
// Shows: dialect=gptneox with a head_dim such as 12 or 20, and no rotary_dim.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, quarter_of_head_rounded_up) {

class RoundedUp : public Layer {
 public:
  using Layer::Layer;
  void turn() override {
    if (!a.rotates()) return;
    rope::Args r = rotated(a.q0, a.k0, a.q, a.k);
    if (parallel && a.rotary_dim == 0) r.rotary_dim = static_cast<double>(ceil_div(a.wq.shape[1], 8) * 2);
    steps(KERNEL_OF(rope, vector16), r);
  }
};

KERNEL_FROM(transformer_layer, plain, RoundedUp);

}  // namespace assay::ROOM(transformer_layer, quarter_of_head_rounded_up)
