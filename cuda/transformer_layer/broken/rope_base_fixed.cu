// SPDX-License-Identifier: Apache-2.0
// FAULT: rope's base is 10,000, whatever is asked for.
// Kind: combination
// Caught by: the bound, with fill=unit (f16), in edges alone.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, rope_base_fixed) {

struct Wrong final : Layer {
  using Layer::Layer;
  void turn() override {
    if (!a.rotates()) return;
    rope::Args r = rotated(a.q0, a.k0, a.q, a.k);
    r.base = 10000;
    steps(KERNEL_OF(rope, vector16), r);
  }
};
KERNEL_FROM(transformer_layer, plain, Wrong);

}  // namespace assay::ROOM(transformer_layer, rope_base_fixed)
