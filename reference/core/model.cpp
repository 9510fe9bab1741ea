// SPDX-License-Identifier: Apache-2.0
#include "reference/core/model.hpp"

#include <numeric>

#include "ops/core/dense.hpp"
#include "reference/core/steps.hpp"

namespace assay::reference {

namespace {

using Values = std::vector<double>;

class Pass {
 public:
  Pass(const Decoder& decoder, std::span<const std::int32_t> tokens, const Seen& seen)
      : d(decoder), n(static_cast<std::int64_t>(tokens.size())), tokens_(tokens.begin(), tokens.end()), seen_(seen) {}

  Values run() {
    Values x = rows_of(d.embedding, tokens_);
    if (d.position_embedding.rank) {
      std::vector<std::int32_t> positions(tokens_.size());
      std::iota(positions.begin(), positions.end(), 0);
      x = sum(x, rows_of(d.position_embedding, positions));
    }
    tell("x", x);
    for (layer_ = 0; layer_ < static_cast<std::int64_t>(d.layers.size()); ++layer_) x = block(x);
    const Values normed = tell("normed", norm(x, d.gamma, d.beta));
    return tell("logits", product(normed, d.head, {}));
  }

 private:
  const Decoder& d;
  const std::int64_t n;
  std::vector<std::int32_t> tokens_;
  const Seen& seen_;
  std::int64_t layer_ = -1;

  const Values& tell(std::string_view name, const Values& v) const {
    if (seen_) seen_(layer_, name, v);
    return v;
  }
  Values block(const Values& x) {
    const Decoder::Layer& w = d.layers[static_cast<std::size_t>(layer_)];
    const Values normed = tell("norm1", norm(x, w.gamma1, w.beta1));
    Values q = product(normed, w.wq, w.bq), k = product(normed, w.wk, w.bk);
    const Values v = tell("v", product(normed, w.wv, w.bv));
    if (d.rotates()) {
      tell("q0", q);
      tell("k0", k);
      rotate(q, k);
    }
    tell("q", q);
    tell("k", k);
    const Values attn = tell("attn", product(tell("o", attention(q, k, v)), w.wo, w.bo));
    const Values h = tell("h", sum(x, attn));
    const Values normed2 = tell("norm2", norm(d.parallel ? x : h, w.gamma2, w.beta2));
    const Values mlp = tell("mlp", product(tell("act", activated(normed2, w)), w.w_down, w.b_down));
    return tell("x", sum(h, mlp));
  }

  Tensor matrix(const Values& v, std::int64_t cols) const {
    return dense(const_cast<double*>(v.data()), f64, {static_cast<std::int64_t>(v.size()) / cols, cols});
  }
  Tensor heads(const Values& v, std::int64_t count) const {
    return dense(const_cast<double*>(v.data()), f64, {1, n, count, d.head_dim});
  }
  Values rows_of(const Tensor& table, std::vector<std::int32_t>& ids) const {
    Values y(static_cast<std::size_t>(n * d.hidden));
    solve_as<embedding>({.table = table, .ids = dense(ids.data(), i32, {n}), .y = matrix(y, d.hidden)}, {y}, n);
    return y;
  }
  Values norm(const Values& x, const Tensor& gamma, const Tensor& beta) const {
    Values y(x.size());
    const Tensor in = matrix(x, d.hidden), out = matrix(y, d.hidden);
    if (d.rms()) solve_as<rmsnorm>({.x = in, .gamma = gamma, .y = out, .epsilon = d.epsilon}, {y}, n);
    else solve_as<layernorm>({.x = in, .gamma = gamma, .beta = beta, .y = out, .epsilon = d.epsilon}, {y}, n);
    return y;
  }
  Values product(const Values& x, const Tensor& w, const Tensor& bias) const {
    const std::int64_t out = w.shape[0], in = w.shape[1];
    Values y(static_cast<std::size_t>(n * out));
    solve_as<linear>({.x = matrix(x, in), .weight = w, .bias = bias, .y = matrix(y, out), .has_bias = bias.rank != 0}, {y}, n);
    return y;
  }
  Values sum(const Values& a, const Values& b) const {
    Values y(a.size());
    solve_as<add>({.a = matrix(a, d.hidden), .b = matrix(b, d.hidden), .y = matrix(y, d.hidden)}, {y}, n);
    return y;
  }
  void rotate(Values& q, Values& k) const {
    const Values q0 = q, k0 = k;
    rope::Args r{.q = heads(q0, d.heads), .k = heads(k0, d.kv_heads), .q_out = heads(q, d.heads), .k_out = heads(k, d.kv_heads)};
    r.rotary_dim = d.rotary_dim;
    r.base = d.rope_base;
    r.frequencies = d.frequencies;
    r.given_frequencies = d.frequencies.rank != 0;
    solve_as<rope>(r, {q, k}, n * d.heads);
  }
  Values attention(const Values& q, const Values& k, const Values& v) const {
    Values o(q.size());
    solve_as<attention_forward>({.q = heads(q, d.heads),
                                 .k = heads(k, d.kv_heads),
                                 .v = heads(v, d.kv_heads),
                                 .o = heads(o, d.heads),
                                 .lse = dense(nullptr, f32, {1, d.heads, n}),
                                 .mask = attention_forward::Mask::causal},
                                {o}, n * d.heads);
    return o;
  }
  Values activated(const Values& x, const Decoder::Layer& w) const {
    Values y(static_cast<std::size_t>(n * d.ffn));
    const Tensor in = matrix(x, d.hidden), out = matrix(y, d.ffn);
    if (w.w_gate.rank) solve_as<gemm_swiglu>({.x = in, .w_gate = w.w_gate, .w_up = w.w_up, .y = out}, {y}, n);
    else
      solve_as<gelu_linear>(
          {.x = in, .weight = w.w_up, .bias = w.b_up, .y = out, .has_bias = w.b_up.rank != 0, .form = d.activation}, {y}, n);
    return y;
  }
};

}  // namespace

std::vector<double> logits(const Decoder& decoder, std::span<const std::int32_t> tokens, const Seen& seen) {
  return Pass(decoder, tokens, seen).run();
}

}  // namespace assay::reference
