// SPDX-License-Identifier: Apache-2.0
// The steps of `unfused` with cuBLASLt's products, as an eager framework runs the block: one library call or element-wise kernel
// per step, scores in memory, nothing fused except biases in the products' epilogues.
#include "cuda/core/vendor/cublaslt.hpp"
#include "cuda/transformer_layer/layer.cuh"

namespace assay::ASSAY_FLAVOUR {
STEP(attention_forward, baseline_eager)
STEP(gelu_linear, baseline_eager)
STEP(gemm_swiglu, baseline_eager)
STEP(linear, baseline_cublaslt)
STEP(linear, baseline_cublaslt_f32)
}  // namespace assay::ASSAY_FLAVOUR

namespace assay::ROOM(transformer_layer, baseline_eager) {

class Eager final : public Layer {
 public:
  using Layer::Layer;

  void attend() override { steps(KERNEL_OF(attention_forward, baseline_eager), attention(a.q, a.k, a.v)); }
  void widen() override {
    const Tensor x = matrix(a.norm2, tokens), act = matrix(a.act, tokens);
    if (llama) steps(KERNEL_OF(gemm_swiglu, baseline_eager), {.x = x, .w_gate = a.w_gate, .w_up = a.w_up, .y = act});
    else
      steps(KERNEL_OF(gelu_linear, baseline_eager),
            {.x = x, .weight = a.w_up, .bias = a.b_up, .y = act, .has_bias = true, .form = form()});
  }

  static Numerics numerics(const Args& a, int output) {
    using enum transformer_layer::Output;
    if (output == kO) return KERNEL_OF(attention_forward, baseline_eager).traits.numerics;
    if (output == kAct)
      return a.dialect == transformer_layer::Dialect::llama ? KERNEL_OF(gemm_swiglu, baseline_eager).traits.numerics
                                                            : KERNEL_OF(gelu_linear, baseline_eager).traits.numerics;
    return numerics_with(library(a).traits.numerics, a, output);
  }

 protected:
  Step<linear> product() const override { return library(a); }

 private:
  static Step<linear> library(const Args& a) {
    return a.x.dtype == f32 ? KERNEL_OF(linear, baseline_cublaslt_f32) : KERNEL_OF(linear, baseline_cublaslt);
  }
};

KERNEL(transformer_layer){
    .dtypes = {f16, bf16, f32},
    .min_arch = 80,
    .finite_inputs = true,
    .tiles = {tile(Axis::seq_q, 128), tile(Axis::hidden, 128), tile(Axis::ffn, 128)},  // for every product
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .of_output = numerics_of<Eager>},
    .available = vendor::cublaslt::available,
    .supports = supports<Eager>,
    .workspace_bytes = workspace_bytes<Eager>,
};

void run(const transformer_layer::Args& a, const Launch& l) { run_layer<Eager>(a, l); }

}  // namespace assay::ROOM(transformer_layer, baseline_eager)
