// SPDX-License-Identifier: Apache-2.0
// FAULT: rope turns all of the head where a quarter, or rotary_dim, is to turn.
// Caught by: the bounds of stages q and k, of gptneox, from the second token on.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, whole_head_turned) {

struct Wrong final : Layer {
  using Layer::Layer;
  void turn() override {
    if (!a.rotates()) return;
    rope::Args r = rotated(a.q0, a.k0, a.q, a.k);
    r.rotary_dim = static_cast<double>(a.q.shape[3] / 2 * 2);
    steps(KERNEL_OF(rope, vector16), r);
  }
};
KERNEL_FROM(transformer_layer, plain, Wrong);

}  // namespace assay::ROOM(transformer_layer, whole_head_turned)
