// SPDX-License-Identifier: Apache-2.0
// FAULT: rope turns the queries only: every key is left as at position 0.
// Caught by: the bound of stage k; right for one token.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, keys_not_turned) {

struct Wrong final : Layer {
  using Layer::Layer;
  void turn() override {
    Layer::turn();
    if (!a.rotates()) return;
    // Sequences of one token each.
    const Tensor k0 = alone(a.k0), k = alone(a.k);
    steps(KERNEL_OF(rope, vector16), rotated(k0, k0, steps.room(k.dtype, {tokens, 1, k.shape[2], k.shape[3]}), k));
  }

 private:
  Tensor alone(const Tensor& t) const {
    return {.data = t.data,
            .dtype = t.dtype,
            .rank = 4,
            .shape = {tokens, 1, t.shape[2], t.shape[3]},
            .stride = {t.stride[1], t.stride[1], t.stride[2], 1}};
  }
};
KERNEL_FROM(transformer_layer, plain, Wrong);

}  // namespace assay::ROOM(transformer_layer, keys_not_turned)
