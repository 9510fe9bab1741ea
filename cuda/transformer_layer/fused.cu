// SPDX-License-Identifier: Apache-2.0
// The fused kernels of this tree (fused.cuh), and the first norm inside the projections.  Between steps only outputs of the op
// are stored.
#include "cuda/transformer_layer/fused.cuh"

namespace assay::ROOM(transformer_layer, fused) {

class FusedNorm final : public Fused {
 public:
  using Fused::Fused;

  void project() override {
    project_into(a.wq, a.bq, a.rotates() ? a.q0 : a.q);
    project_into(a.wk, a.bk, a.rotates() ? a.k0 : a.k);
    project_into(a.wv, a.bv, a.v);
  }

  static Numerics numerics(const Args& a, int output) {
    using enum transformer_layer::Output;
    const bool projected = output == kQ0 || output == kK0 || output == kV || (!a.rotates() && (output == kQ || output == kK));
    if (projected)
      return a.dialect == transformer_layer::Dialect::llama ? PRODUCT_OF(rmsnorm_gemm, a.x.dtype).traits.numerics
                                                            : PRODUCT_OF(layernorm_linear, a.x.dtype).traits.numerics;
    return numerics_of_kernels(a, output, PRODUCT_OF(linear, a.x.dtype).traits.numerics, flash_of(a).traits.numerics,
                               PRODUCT_OF(gemm_swiglu, a.x.dtype).traits.numerics,
                               PRODUCT_OF(gelu_linear, a.x.dtype).traits.numerics);
  }

 protected:
  Step<attention_forward> flash() const override { return flash_of(a); }
  Step<gemm_swiglu> swiglu() const override { return PRODUCT_OF(gemm_swiglu, a.x.dtype); }
  Step<gelu_linear> gelu_product() const override { return PRODUCT_OF(gelu_linear, a.x.dtype); }

 private:
  static Step<attention_forward> flash_of(const Args& a) {
    return a.x.dtype == f32 ? KERNEL_OF(attention_forward, naive) : KERNEL_OF(attention_forward, mma_tiled);
  }
  void project_into(const Tensor& weight, const Tensor& bias, const Tensor& y) {
    const Tensor x = matrix(a.x, tokens), w = matrix(weight, features(weight)), to = matrix(y, tokens);
    if (llama)
      steps(PRODUCT_OF(rmsnorm_gemm, a.x.dtype), {.x = x, .gamma = a.gamma1, .weight = w, .y = to, .epsilon = a.epsilon});
    else
      steps(PRODUCT_OF(layernorm_linear, a.x.dtype), {.x = x,
                                                      .gamma = a.gamma1,
                                                      .beta = a.beta1,
                                                      .weight = w,
                                                      .bias = vector(bias),
                                                      .y = to,
                                                      .has_bias = true,
                                                      .epsilon = a.epsilon});
  }
};

KERNEL(transformer_layer) = traits_of<FusedNorm>();

void run(const transformer_layer::Args& a, const Launch& l) { run_layer<FusedNorm>(a, l); }

}  // namespace assay::ROOM(transformer_layer, fused)
