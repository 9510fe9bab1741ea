// SPDX-License-Identifier: Apache-2.0
// The fused kernels of this tree: the first norm inside the projections, attention without scores in memory, the residual with
// the norm after it, and gate, up and SwiGLU (or the bias and GELU) in one product.
// Between steps only outputs of the op are stored.
#include "cuda/transformer_layer/layer.cuh"

namespace assay::ROOM(transformer_layer, fused) {

class Fused final : public Layer {
 public:
  using Layer::Layer;

  void project() override {
    project_into(a.wq, a.bq, a.rotates() ? a.q0 : a.q);
    project_into(a.wk, a.bk, a.rotates() ? a.k0 : a.k);
    project_into(a.wv, a.bv, a.v);
  }
  void attend() override { steps(flash(a), attention(a.q, a.k, a.v)); }
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
    if (llama)
      steps(PRODUCT_OF(gemm_swiglu, a.x.dtype), {.x = x, .w_gate = a.w_gate, .w_up = a.w_up, .y = act});
    else
      steps(PRODUCT_OF(gelu_linear, a.x.dtype),
            {.x = x, .weight = a.w_up, .bias = a.b_up, .y = act, .has_bias = true, .form = form()});
  }

  static Numerics numerics(const Args& a, int output) {
    using enum transformer_layer::Output;
    const bool llama = a.dialect == transformer_layer::Dialect::llama;
    const bool projected = output == kQ0 || output == kK0 || output == kV || (!a.rotates() && (output == kQ || output == kK));
    if (projected)
      return llama ? PRODUCT_OF(rmsnorm_gemm, a.x.dtype).traits.numerics
                   : PRODUCT_OF(layernorm_linear, a.x.dtype).traits.numerics;
    if (output == kO) return flash(a).traits.numerics;
    if (output == kAct)
      return llama ? PRODUCT_OF(gemm_swiglu, a.x.dtype).traits.numerics : PRODUCT_OF(gelu_linear, a.x.dtype).traits.numerics;
    return Layer::numerics(a, output);  // residual_layernorm and residual_rmsnorm sum as the norms do
  }

 private:
  static Step<attention_forward> flash(const Args& a) {
    return a.x.dtype == f32 ? KERNEL_OF(attention_forward, naive) : KERNEL_OF(attention_forward, mma_tiled);
  }
  void project_into(const Tensor& weight, const Tensor& bias, const Tensor& y) {
    const Tensor x = matrix(a.x, tokens), w = matrix(weight, features(weight)), to = matrix(y, tokens);
    if (llama)
      steps(PRODUCT_OF(rmsnorm_gemm, a.x.dtype), {.x = x, .gamma = a.gamma1, .weight = w, .y = to, .epsilon = a.epsilon});
    else
      steps(PRODUCT_OF(layernorm_linear, a.x.dtype),
            {.x = x,
             .gamma = a.gamma1,
             .beta = a.beta1,
             .weight = w,
             .bias = vector(bias),
             .y = to,
             .has_bias = true,
             .epsilon = a.epsilon});
  }
};

KERNEL(transformer_layer) = traits_of<Fused>();

void run(const transformer_layer::Args& a, const Launch& l) { run_layer<Fused>(a, l); }

}  // namespace assay::ROOM(transformer_layer, fused)
