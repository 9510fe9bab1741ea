// SPDX-License-Identifier: Apache-2.0
// FAULT: the rotated width is rounded up to a multiple of four channels, for loads of two pairs.
// Kind: offsets
// Shows: rotary_dim 6, or a head whose rotated part has an odd number of pairs.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, rotary_width_in_fours) {

class Padded : public Layer {
 public:
  using Layer::Layer;
  void turn() override {
    if (!a.rotates()) return;
    rope::Args r = rotated(a.q0, a.k0, a.q, a.k);
    const std::int64_t width = ceil_div(static_cast<std::int64_t>(a.rotary()), 4) * 4;
    if (width <= a.wq.shape[1]) r.rotary_dim = static_cast<double>(width);
    steps(KERNEL_OF(rope, vector16), r);
  }
};

KERNEL(transformer_layer) = plain_traits<Padded>();
void run(const transformer_layer::Args& a, const Launch& l) { run_plain<Padded>(a, l); }

}  // namespace assay::ROOM(transformer_layer, rotary_width_in_fours)
