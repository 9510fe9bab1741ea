// SPDX-License-Identifier: Apache-2.0
// FAULT: the normalised rows lie at the start of the workspace, where a product of few tokens keeps its parts: wq reads some of
// its own, wk and wv what wq has left.
// Caught by: the bound of stage q0, or of q, where channels are split.
#include "cuda/core/kernel_family.cuh"
#include "cuda/transformer_layer/hopper.cuh"

namespace assay::ROOM(transformer_layer, hopper_norm_over_parts) {

struct Wrong final : Hopper {
  using Hopper::Hopper;
  void project() override {
    const std::size_t parts = steps.bytes();
    Tensor n = steps.room(a.x.dtype, {tokens, a.x.shape[2]});
    if (n.data) n.data = static_cast<char*>(n.data) - parts;
    norm(a.x, a.gamma1, a.beta1, n);
    linear_into(n, a.wq, a.bq, a.rotates() ? a.q0 : a.q, features(a.wq));
    linear_into(n, a.wk, a.bk, a.rotates() ? a.k0 : a.k, features(a.wk));
    linear_into(n, a.wv, a.bv, a.v, features(a.wv));
  }
};
KERNEL_FROM(transformer_layer, hopper, Wrong);

}  // namespace assay::ROOM(transformer_layer, hopper_norm_over_parts)
