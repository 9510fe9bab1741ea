// SPDX-License-Identifier: Apache-2.0
// FAULT: rope turns q and k before they are split into heads, as one head of all their channels.
// Caught by: the bound of stage q, from the second token on, with several heads.
#include "cuda/core/kernel_family.cuh"
#include "cuda/transformer_layer/hopper.cuh"

namespace assay::ROOM(transformer_layer, hopper_rope_before_split) {

struct Wrong final : Hopper {
  using Hopper::Hopper;
  void turn() override {
    if (!a.rotates()) return;
    turn_all(a.q0, a.q);
    turn_all(a.k0, a.k);
  }

 private:
  static Tensor one_head(const Tensor& t) { return dense(t.data, t.dtype, {t.shape[0], t.shape[1], 1, t.shape[2] * t.shape[3]}); }
  void turn_all(const Tensor& from, const Tensor& to) {
    const Tensor x = one_head(from), again = steps.room(x.dtype, {x.shape[0], x.shape[1], 1, x.shape[3]});
    rope::Args r = rotated(x, x, one_head(to), again);
    r.rotary_dim = a.rotary() * static_cast<double>(from.shape[2]);
    steps(KERNEL_OF(rope, vector16), r);
  }
};
KERNEL_FROM(transformer_layer, hopper, Wrong);

}  // namespace assay::ROOM(transformer_layer, hopper_rope_before_split)
