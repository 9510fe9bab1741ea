// SPDX-License-Identifier: Apache-2.0
// The kernels of this tree for sm_90a (fused.cuh): products and attention by wgmma and tensor copies, the residual with the norm
// after it, and gate, up and SwiGLU (or the bias and GELU) in one product.  The first norm is a step of its own, since the
// products for q, k and v read it.  Up to 64 tokens, the products are those for few tokens, whose sums may have other bits.
#include "cuda/core/hopper_few.cuh"
#include "cuda/transformer_layer/fused.cuh"

namespace assay::ROOM(transformer_layer, sm90_wgmma) {

#define HOPPER_PRODUCT_OF(op, tokens) \
  ((tokens) <= hopper_gemm::kFewTokens ? KERNEL_OF(op, sm90_few_tokens) : KERNEL_OF(op, sm90_wgmma))

class Hopper final : public Fused {
 public:
  using Fused::Fused;

  // The kernels for few tokens declare the same numerics as sm90_wgmma.
  static Numerics numerics(const Args& a, int output) {
    return numerics_of_kernels(a, output, linear_room::sm90_wgmma::traits.numerics,
                               attention_forward_room::sm90_wgmma::traits.numerics, gemm_swiglu_room::sm90_wgmma::traits.numerics,
                               gelu_linear_room::sm90_wgmma::traits.numerics);
  }

 protected:
  Step<linear> product() const override { return HOPPER_PRODUCT_OF(linear, tokens); }
  Step<attention_forward> flash() const override { return KERNEL_OF(attention_forward, sm90_wgmma); }
  Step<gemm_swiglu> swiglu() const override { return HOPPER_PRODUCT_OF(gemm_swiglu, tokens); }
  Step<gelu_linear> gelu_product() const override { return HOPPER_PRODUCT_OF(gelu_linear, tokens); }
};

constexpr KernelTraits<transformer_layer> hopper_traits() {
  KernelTraits<transformer_layer> t = traits_of<Hopper>();
  t.dtypes = {f16, bf16};
  t.only_arch = 90;
  t.position_matters = true;  // the number of tokens selects the products
  return t;
}
KERNEL(transformer_layer) = hopper_traits();

void run(const transformer_layer::Args& a, const Launch& l) { run_layer<Hopper>(a, l); }

}  // namespace assay::ROOM(transformer_layer, sm90_wgmma)
