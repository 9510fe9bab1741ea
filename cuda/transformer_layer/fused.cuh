// SPDX-License-Identifier: Apache-2.0
// Layers without scores in memory: the residual with the norm after it, and gate, up and SwiGLU (or the bias and GELU) in one
// product.  Derived layers choose the kernels.
#pragma once

#include "cuda/transformer_layer/layer.cuh"

namespace assay::ASSAY_FLAVOUR::transformer_layer_room {

class Fused : public Layer {
 public:
  using Layer::Layer;

  void attend() override { steps(flash(), attention(a.q, a.k, a.v)); }
  // If both branches read x (gptneox), there is nothing to fuse here.
  void add_residual() override {
    const Tensor x = matrix(a.x, tokens), attn = matrix(a.attn, tokens), h = matrix(a.h, tokens), norm2 = matrix(a.norm2, tokens);
    if (parallel) return Layer::add_residual();
    if (llama)
      steps(KERNEL_OF(residual_rmsnorm, block_row),
            {.x = x, .residual = attn, .gamma = a.gamma2, .y = norm2, .s = h, .epsilon = a.epsilon});
    else
      steps(KERNEL_OF(residual_layernorm, block_row),
            {.x = x, .residual = attn, .gamma = a.gamma2, .beta = a.beta2, .y = norm2, .s = h, .epsilon = a.epsilon});
  }
  void norm_second() override {
    if (parallel) Layer::norm_second();
  }
  void widen() override {
    const Tensor x = matrix(a.norm2, tokens), act = matrix(a.act, tokens);
    if (llama) steps(swiglu(), {.x = x, .w_gate = a.w_gate, .w_up = a.w_up, .y = act});
    else steps(gelu_product(), {.x = x, .weight = a.w_up, .bias = a.b_up, .y = act, .has_bias = true, .form = form()});
  }

  // residual_layernorm and residual_rmsnorm sum as the norms do.
  static Numerics numerics_of_kernels(const Args& a, int output, const Numerics& product, const Numerics& flash,
                                      const Numerics& swiglu, const Numerics& gelu_product) {
    using enum transformer_layer::Output;
    if (output == kO) return flash;
    if (output == kAct) return a.dialect == transformer_layer::Dialect::llama ? swiglu : gelu_product;
    return numerics_with(product, a, output);
  }

 protected:
  virtual Step<attention_forward> flash() const = 0;
  virtual Step<gemm_swiglu> swiglu() const = 0;
  virtual Step<gelu_linear> gelu_product() const = 0;
};

}  // namespace assay::ASSAY_FLAVOUR::transformer_layer_room
