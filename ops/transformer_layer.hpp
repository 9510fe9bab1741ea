// SPDX-License-Identifier: Apache-2.0
// A causal pre-norm transformer block; positions start at 0, query head i reads key/value head i / (heads / kv_heads):
//
//   n = norm1(x);  q, k, v = n wq^T, n wk^T, n wv^T;  q, k = rope(q, k);  o = attention(q, k, v);  attn = o wo^T
//   h = x + attn;  norm2 = norm2(h);  act = f(norm2 w_up^T);  mlp = act w_down^T;  y = h + mlp
//
//   llama    RMSNorm, rope (half) on the whole head, no biases, act = silu(norm2 w_gate^T) * (norm2 w_up^T)
//   gpt2     LayerNorm, biases everywhere, no rope (positions are learned), act = gelu(...) in its tanh form
//   gptneox  LayerNorm, biases, rope on a quarter of each head, gelu in its erf form, and both branches read x: norm2 = norm2(x)
//
// The attribute gelu gives gpt2 and gptneox the other form, as GPT-NeoX 20B has it; llama ignores it, as gpt2 does base.
//
// (Touvron et al. 2023, arXiv 2302.13971; Radford et al. 2019; Black et al. 2022, arXiv 2204.06745.)  All intermediate tensors
// except n are outputs too, stored in the dtype.  Each is judged by the formula of its op, computed from the candidate's own
// stored inputs to that step, so the wrong step is named and the bound is as tight as that op's.  n, and the results of the
// products inside act, are not judged.  A NaN or inf in x affects its own token and those after it.
#pragma once

#include "ops/core/contract.hpp"

namespace assay {

struct transformer_layer {
  enum class Dialect { llama, gpt2, gptneox };
  enum class Gelu { of_dialect, tanh, erf };
  enum Output { kY, kQ0, kK0, kV, kQ, kK, kO, kAttn, kH, kNorm2, kAct, kMlp };

  // Biases and betas are absent in llama.
  struct Args {
    Tensor x;               // [batch, seq_q, hidden]
    Tensor gamma1, beta1;   // [hidden]
    Tensor wq, wk, wv;      // [heads, head_dim, hidden]; k, v: of kv_heads
    Tensor bq, bk, bv;      // [heads, head_dim]; k, v: of kv_heads
    Tensor wo, bo;          // [hidden, heads, head_dim], [hidden]
    Tensor gamma2, beta2;   // [hidden]
    Tensor w_gate;          // [ffn, hidden], llama only
    Tensor w_up, b_up;      // [ffn, hidden], [ffn]
    Tensor w_down, b_down;  // [hidden, ffn], [hidden]
    Tensor y;               // [batch, seq_q, hidden], written, like all that follow
    Tensor q0, k0;          // q and k before rope; absent in gpt2
    Tensor v;               // [batch, seq_q, kv_heads, head_dim]
    Tensor q, k;            // [batch, seq_q, heads, head_dim]; k: of kv_heads
    Tensor o;               // shape of q
    Tensor attn, h, norm2;  // shape of y
    Tensor act;             // [batch, seq_q, ffn]
    Tensor mlp;             // shape of y
    Dialect dialect = Dialect::llama;
    Gelu gelu = Gelu::of_dialect;
    double epsilon = 1e-5, base = 10000, rotary_dim = 0;

    // rotary_dim 0: head_dim (gptneox: a quarter of it), rounded down to even.
    double rotary() const {
      if (rotary_dim != 0) return rotary_dim;
      return static_cast<double>(dialect == Dialect::gptneox ? wq.shape[1] / 8 * 2 : wq.shape[1] / 2 * 2);
    }
    bool rotates() const { return dialect != Dialect::gpt2; }
    bool tanh_form() const { return gelu == Gelu::of_dialect ? dialect == Dialect::gpt2 : gelu == Gelu::tanh; }
  };

  static constexpr AxisUse axes[] = {{Axis::batch, 0},    {Axis::seq_q, 0},    {Axis::hidden, 1}, {Axis::heads, 1},
                                     {Axis::kv_heads, 1}, {Axis::head_dim, 1}, {Axis::ffn, 1}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    const AxisList stream = {Axis::batch, Axis::seq_q, Axis::hidden},
                   queries = {Axis::batch, Axis::seq_q, Axis::heads, Axis::head_dim},
                   keys = {Axis::batch, Axis::seq_q, Axis::kv_heads, Axis::head_dim};
    const TensorOptions biased{.present_if = "dialect", .present_values = 6}, gated{.present_if = "dialect", .present_values = 1},
        rotated{.present_if = "dialect", .present_values = 5};
    v.input("x", a.x, stream);
    v.weight("gamma1", a.gamma1, {Axis::hidden});
    v.weight("beta1", a.beta1, {Axis::hidden}, biased);
    v.weight("wq", a.wq, {Axis::heads, Axis::head_dim, Axis::hidden});
    v.weight("bq", a.bq, {Axis::heads, Axis::head_dim}, biased);
    v.weight("wk", a.wk, {Axis::kv_heads, Axis::head_dim, Axis::hidden});
    v.weight("bk", a.bk, {Axis::kv_heads, Axis::head_dim}, biased);
    v.weight("wv", a.wv, {Axis::kv_heads, Axis::head_dim, Axis::hidden});
    v.weight("bv", a.bv, {Axis::kv_heads, Axis::head_dim}, biased);
    v.weight("wo", a.wo, {Axis::hidden, Axis::heads, Axis::head_dim});
    v.weight("bo", a.bo, {Axis::hidden}, biased);
    v.weight("gamma2", a.gamma2, {Axis::hidden});
    v.weight("beta2", a.beta2, {Axis::hidden}, biased);
    v.weight("w_gate", a.w_gate, {Axis::ffn, Axis::hidden}, gated);
    v.weight("w_up", a.w_up, {Axis::ffn, Axis::hidden});
    v.weight("b_up", a.b_up, {Axis::ffn}, biased);
    v.weight("w_down", a.w_down, {Axis::hidden, Axis::ffn});
    v.weight("b_down", a.b_down, {Axis::hidden}, biased);
    v.output("y", a.y, stream);
    v.output("q0", a.q0, queries, rotated);
    v.output("k0", a.k0, keys, rotated);
    v.output("v", a.v, keys);
    v.output("q", a.q, queries);
    v.output("k", a.k, keys);
    v.output("o", a.o, queries);
    v.output("attn", a.attn, stream);
    v.output("h", a.h, stream);
    v.output("norm2", a.norm2, stream);
    v.output("act", a.act, {Axis::batch, Axis::seq_q, Axis::ffn});
    v.output("mlp", a.mlp, stream);
    v.choice("dialect", a.dialect, {"llama", "gpt2", "gptneox"});
    v.choice("gelu", a.gelu, {"of_dialect", "tanh", "erf"});
    v.attribute("epsilon", a.epsilon, 1e-5);
    v.attribute("base", a.base, 10000);
    v.attribute("rotary_dim", a.rotary_dim, 0);
  }

  static Legality legal(const Args& a) {
    const std::int64_t dim = a.wq.shape[1];
    if (a.wq.shape[0] % a.wk.shape[0]) return Legality::no("heads must be a multiple of kv_heads");
    if (!(a.epsilon >= 0) || !std::isfinite(a.epsilon)) return Legality::no("epsilon must be finite and not negative");
    if (!(a.base >= 1 && a.base <= 0x1p60)) return Legality::no("base must be between 1 and 2^60");
    if (!(a.rotary_dim >= 0 && a.rotary_dim <= static_cast<double>(dim)) || std::fmod(a.rotary_dim, 2) != 0)
      return Legality::no("rotary_dim must be even and no more than head_dim");
    if (a.dialect == Dialect::gptneox && a.rotary() == 0)
      return Legality::no("gptneox needs head_dim >= 8 or rotary_dim: a quarter of head_dim must hold a pair");
    return Legality::yes();
  }

  static std::vector<Stage> stages(const Args& a) {
    const bool llama = a.dialect == Dialect::llama;
    const std::int64_t b = a.x.shape[0], s = a.x.shape[1], n = b * s, c = a.x.shape[2], f = a.w_up.shape[0];
    const std::int64_t nq = a.wq.shape[0], nk = a.wk.shape[0], d = a.wq.shape[1];
    const Dims matrix = dims_of({{Axis::rows, n}, {Axis::cols, c}});
    const Dims all_heads = dims_of(
        {{Axis::batch, b}, {Axis::seq_q, s}, {Axis::seq_k, s}, {Axis::heads, nq}, {Axis::kv_heads, nk}, {Axis::head_dim, d}});
    const std::string_view q0 = a.rotates() ? "q0" : "q", k0 = a.rotates() ? "k0" : "k",
                           normed = a.dialect == Dialect::gptneox ? "x" : "h";
    std::vector<Stage> all;
    const auto project = [&](std::string_view w, std::string_view bias, std::string_view y, std::int64_t out) {
      all.push_back({llama ? "rmsnorm_gemm" : "layernorm_linear",
                     {{"x", "x"}, {"gamma", "gamma1"}, {"beta", "beta1"}, {"weight", w}, {"bias", bias}, {"y", y}},
                     {{"epsilon", a.epsilon}, {"bias", llama ? 0 : 1}},
                     dims_of({{Axis::tokens, n}, {Axis::hidden, c}, {Axis::out, out}})});
    };
    const auto linear = [&](std::string_view x, std::string_view w, std::string_view bias, std::string_view y, std::int64_t in) {
      all.push_back({"linear",
                     {{"x", x}, {"weight", w}, {"bias", bias}, {"y", y}},
                     {{"bias", llama ? 0 : 1}},
                     dims_of({{Axis::tokens, n}, {Axis::hidden, in}, {Axis::out, c}})});
    };
    project("wq", "bq", q0, nq * d);
    project("wk", "bk", k0, nk * d);
    project("wv", "bv", "v", nk * d);
    if (a.rotates())
      all.push_back({"rope",
                     {{"q", "q0"}, {"k", "k0"}, {"q_out", "q"}, {"k_out", "k"}},
                     {{"rotary_dim", a.rotary()}, {"base", a.base}},
                     all_heads});
    all.push_back({"attention_forward", {{"q", "q"}, {"k", "k"}, {"v", "v"}, {"o", "o"}}, {{"mask", 1}}, all_heads});
    linear("o", "wo", "bo", "attn", nq * d);
    all.push_back({"add", {{"a", "x"}, {"b", "attn"}, {"y", "h"}}, {}, matrix});
    all.push_back({llama ? "rmsnorm" : "layernorm",
                   {{"x", normed}, {"gamma", "gamma2"}, {"beta", "beta2"}, {"y", "norm2"}},
                   {{"epsilon", a.epsilon}},
                   matrix});
    if (llama)
      all.push_back({"gemm_swiglu",
                     {{"x", "norm2"}, {"w_gate", "w_gate"}, {"w_up", "w_up"}, {"y", "act"}},
                     {},
                     dims_of({{Axis::tokens, n}, {Axis::hidden, c}, {Axis::ffn, f}})});
    else
      all.push_back({"gelu_linear",
                     {{"x", "norm2"}, {"weight", "w_up"}, {"bias", "b_up"}, {"y", "act"}},
                     {{"bias", 1}, {"form", a.tanh_form() ? 0 : 1}},
                     dims_of({{Axis::tokens, n}, {Axis::hidden, c}, {Axis::out, f}})});
    linear("act", "w_down", "b_down", "mlp", f);
    all.push_back({"add", {{"a", "h"}, {"b", "mlp"}, {"y", "y"}}, {}, matrix});
    return all;
  }

  // Reads x and the weights once, writes all outputs once; 2 operations per term of every product and of every visible pair of
  // query and key.  Unfused, n and the products inside act are written too, and every intermediate is read again.
  static Cost cost(const Args& a) {
    double read = static_cast<double>(a.x.bytes()), written = 0;
    for (const Tensor* t : {&a.gamma1, &a.beta1, &a.wq, &a.bq, &a.wk, &a.bk, &a.wv, &a.bv, &a.wo, &a.bo, &a.gamma2, &a.beta2,
                            &a.w_gate, &a.w_up, &a.b_up, &a.w_down, &a.b_down})
      read += static_cast<double>(t->bytes());
    for (const Tensor* t : {&a.y, &a.q0, &a.k0, &a.v, &a.q, &a.k, &a.o, &a.attn, &a.h, &a.norm2, &a.act, &a.mlp})
      written += static_cast<double>(t->bytes());
    const double tokens = static_cast<double>(a.x.shape[0] * a.x.shape[1]), queries = static_cast<double>(a.x.shape[1]);
    const double weights = static_cast<double>(a.wq.size() + a.wk.size() + a.wv.size() + a.wo.size() + a.w_gate.size() +
                                               a.w_up.size() + a.w_down.size());
    const double pairs = tokens * (queries + 1) / 2 * static_cast<double>(a.wq.shape[0]);
    const double between = static_cast<double>(a.x.bytes() + (a.dialect == Dialect::llama ? 2 : 1) * a.act.bytes());
    return {.flops = 2 * tokens * weights + 4 * pairs * static_cast<double>(a.wq.shape[1]),
            .bytes_read = read,
            .bytes_written = written,
            .unfused_bytes = read + 2 * written + 2 * between - static_cast<double>(a.y.bytes())};
  }
};

}  // namespace assay
