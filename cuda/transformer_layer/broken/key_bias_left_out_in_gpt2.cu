// SPDX-License-Identifier: Apache-2.0
// FAULT: gpt2's keys get no bias: all scores of a query move alike, so o and y are right to rounding, and k is not.
// Kind: combination
// Caught by: the bound, with fill=unit (f16).
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, key_bias_left_out_in_gpt2) {

struct Wrong final : Layer {
  using Layer::Layer;
  void project() override {
    const Tensor n = steps.room(a.x.dtype, {tokens, a.x.shape[2]});
    norm(a.x, a.gamma1, a.beta1, n);
    linear_into(n, a.wq, a.bq, a.rotates() ? a.q0 : a.q, features(a.wq));
    linear_into(n, a.wk, a.dialect == transformer_layer::Dialect::gpt2 ? Tensor{} : a.bk, a.rotates() ? a.k0 : a.k,
                features(a.wk));
    linear_into(n, a.wv, a.bv, a.v, features(a.wv));
  }
};
KERNEL_FROM(transformer_layer, plain, Wrong);

}  // namespace assay::ROOM(transformer_layer, key_bias_left_out_in_gpt2)
