// SPDX-License-Identifier: Apache-2.0
// A transformer block step by step, one kernel per step; derived layers override steps.
#pragma once

#include "cuda/transformer_layer/steps.cuh"

namespace assay::ASSAY_FLAVOUR::transformer_layer_room {

class Layer {
 public:
  using Args = transformer_layer::Args;

  Layer(const Args& args, Steps& to)
      : a(args),
        steps(to),
        tokens(args.x.shape[0] * args.x.shape[1]),
        llama(args.dialect == transformer_layer::Dialect::llama),
        parallel(args.dialect == transformer_layer::Dialect::gptneox) {}
  virtual ~Layer() = default;

  void make() {
    project();
    turn();
    attend();
    linear_into(a.o, a.wo, a.bo, a.attn, a.x.shape[2]);
    add_residual();
    norm_second();
    widen();
    linear_into(a.act, a.w_down, a.b_down, a.mlp, a.x.shape[2]);
    add_second_residual();
  }

  virtual void project() {
    const Tensor n = steps.room(a.x.dtype, {tokens, a.x.shape[2]});
    norm(a.x, a.gamma1, a.beta1, n);
    linear_into(n, a.wq, a.bq, a.rotates() ? a.q0 : a.q, features(a.wq));
    linear_into(n, a.wk, a.bk, a.rotates() ? a.k0 : a.k, features(a.wk));
    linear_into(n, a.wv, a.bv, a.v, features(a.wv));
  }
  void turn() {
    if (a.rotates()) steps(KERNEL_OF(rope, vector16), rotated(a.q0, a.k0, a.q, a.k));
  }
  virtual void attend() { steps(KERNEL_OF(attention_forward, unfused), attention(a.q, a.k, a.v)); }
  virtual void add_residual() { add_into(a.x, a.attn, a.h); }
  virtual void norm_second() { norm(parallel ? a.x : a.h, a.gamma2, a.beta2, a.norm2); }
  virtual void widen() {
    const std::int64_t ffn = a.w_up.shape[0];
    const Tensor up = steps.room(a.x.dtype, {tokens, ffn}), act = matrix(a.act, tokens);
    if (llama) {
      const Tensor gate = steps.room(a.x.dtype, {tokens, ffn});
      linear_into(a.norm2, a.w_gate, {}, gate, ffn);
      linear_into(a.norm2, a.w_up, {}, up, ffn);
      steps(KERNEL_OF(silu_mul, vector16), {.gate = gate, .up = up, .y = act});
    } else {
      linear_into(a.norm2, a.w_up, a.b_up, up, ffn);
      steps(KERNEL_OF(gelu, vector16), {.x = up, .y = act, .form = form()});
    }
  }
  void add_second_residual() { add_into(a.h, a.mlp, a.y); }

  // The numerics that each output is judged by.
  static Numerics numerics(const Args& a, int output) {
    return numerics_with(PRODUCT_OF(linear, a.x.dtype).traits.numerics, a, output);
  }
  static Numerics numerics_with(const Numerics& product, const Args& a, int output) {
    using enum transformer_layer::Output;
    const Numerics norm = a.dialect == transformer_layer::Dialect::llama ? KERNEL_OF(rmsnorm, block_row).traits.numerics
                                                                         : KERNEL_OF(layernorm, block_row).traits.numerics;
    // A stage of a norm and a product gets the longer chain of the two.  A product in f32 is one serial chain, the longer.
    Numerics stored = product;
    stored.stores = product.stores.empty() ? "n" : "n,before_bias";
    if (a.x.dtype != f32) stored.chain = norm.chain;
    switch (output) {
      case kQ0:
      case kK0:
      case kV: return stored;
      case kAct:
        stored.stores = a.dialect == transformer_layer::Dialect::llama ? "gate,up" : "z";
        if (a.dialect != transformer_layer::Dialect::llama) {
          const Numerics step = KERNEL_OF(gelu, vector16).traits.numerics;
          stored.quotient_error = step.quotient_error;
          stored.flushes_subnormals = step.flushes_subnormals;
        }
        return stored;
      case kQ:
      case kK: return a.rotates() ? KERNEL_OF(rope, vector16).traits.numerics : stored;
      case kO: return KERNEL_OF(attention_forward, unfused).traits.numerics;
      case kAttn:
      case kMlp: return product;
      case kNorm2: return norm;
      default: return KERNEL_OF(add, vector16).traits.numerics;
    }
  }

 protected:
  const Args& a;
  Steps& steps;
  const std::int64_t tokens;
  const bool llama, parallel;

  static std::int64_t features(const Tensor& weight) { return weight.shape[0] * weight.shape[1]; }
  Activation form() const { return a.tanh_form() ? Activation::gelu_tanh : Activation::gelu_erf; }

  void norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Tensor& y) {
    if (llama)
      steps(KERNEL_OF(rmsnorm, block_row),
            {.x = matrix(x, tokens), .gamma = gamma, .y = matrix(y, tokens), .epsilon = a.epsilon});
    else
      steps(KERNEL_OF(layernorm, block_row),
            {.x = matrix(x, tokens), .gamma = gamma, .beta = beta, .y = matrix(y, tokens), .epsilon = a.epsilon});
  }
  virtual Step<linear> product() const { return PRODUCT_OF(linear, a.x.dtype); }
  void linear_into(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& y, std::int64_t out) {
    steps(product(), {.x = matrix(x, tokens),
                      .weight = matrix(weight, out),
                      .bias = vector(bias),
                      .y = matrix(y, tokens),
                      .has_bias = bias.rank != 0});
  }
  void add_into(const Tensor& x, const Tensor& y, const Tensor& sum) {
    steps(KERNEL_OF(add, vector16), {.a = matrix(x, tokens), .b = matrix(y, tokens), .y = matrix(sum, tokens)});
  }
  rope::Args rotated(const Tensor& q0, const Tensor& k0, const Tensor& q, const Tensor& k) const {
    rope::Args r{.q = q0, .k = k0, .q_out = q, .k_out = k};
    r.rotary_dim = a.rotary();
    r.base = a.base;
    return r;
  }
  // L is written to workspace.
  attention_forward::Args attention(const Tensor& q, const Tensor& k, const Tensor& v) {
    const Tensor lse = steps.room(f32, {q.shape[0], q.shape[2], q.shape[1]});
    return {.q = q, .k = k, .v = v, .o = a.o, .lse = lse, .mask = attention_forward::Mask::causal};
  }
};

// Builds the declaration and the launcher of a layer.
template <class L>
Steps asked(const transformer_layer::Args& a) {
  Steps steps;
  L(a, steps).make();
  return steps;
}
template <class L>
Legality supports(const transformer_layer::Args& a) {
  for (const Tensor* t : {&a.x, &a.wq, &a.wk, &a.wv, &a.wo, &a.w_up, &a.w_down, &a.y, &a.q, &a.k, &a.v, &a.o, &a.act})
    if (!t->contiguous()) return Legality::no("tensors must be contiguous");
  return asked<L>(a).supported();
}
template <class L>
std::size_t workspace_bytes(const transformer_layer::Args& a) {
  return asked<L>(a).bytes();
}
template <class L>
Numerics numerics_of(const void* a, int output) {
  return L::numerics(*static_cast<const transformer_layer::Args*>(a), output);
}
template <class L>
constexpr KernelTraits<transformer_layer> traits_of() {
  return {.dtypes = {f16, bf16, f32},
          .min_arch = 80,
          .tiles = {tile(Axis::seq_q, 128), tile(Axis::hidden, 128), tile(Axis::ffn, 128)},  // for every product
          .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .of_output = numerics_of<L>},
          .supports = supports<L>,
          .workspace_bytes = workspace_bytes<L>};
}
template <class L>
void run_layer(const transformer_layer::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  Steps steps(asked<L>(a), l);
  L(a, steps).make();
}

}  // namespace assay::ASSAY_FLAVOUR::transformer_layer_room
