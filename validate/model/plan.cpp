// SPDX-License-Identifier: Apache-2.0
#include "validate/model/plan.hpp"

#include <fmt/format.h>

#include "ops/core/stage.hpp"

namespace assay {

namespace {

using Parts = std::vector<std::pair<std::string_view, std::string>>;
using Attributes = std::vector<std::pair<std::string_view, double>>;

class Planner {
 public:
  Planner(const reference::Decoder& decoder, const PassShape& shape, Ops ops)
      : d(decoder), s(shape), fused(ops != Ops::steps), joined(ops == Ops::joined) {}

  std::vector<Step> run() {
    const bool learned = d.position_embedding.rank != 0;
    embed("embedding", "ids", learned ? "e" : "x");
    if (learned) {
      embed("position_embedding", "positions", "p");
      add("e", "p", "x");
    }
    for (layer_ = 0; layer_ < static_cast<std::int64_t>(d.layers.size()); ++layer_) layer();
    const std::int64_t rows = s.all_logits ? s.tokens() : s.batch;
    norm(s.all_logits ? "x" : "x_last", "gamma", "beta", "normed", rows);
    linear("normed", "head", nullptr, "logits", rows, d.hidden, head_rows(d));
    return std::move(steps_);
  }

 private:
  const reference::Decoder& d;
  const PassShape& s;
  const bool fused, joined;
  std::int64_t layer_ = -1;
  std::vector<Step> steps_;

  std::string weight(std::string_view name) const { return fmt::format("{}.{}", layer_, name); }
  const reference::Decoder::Layer& w() const { return d.layers[static_cast<std::size_t>(layer_)]; }
  std::int64_t queries() const { return d.heads * d.head_dim; }
  std::int64_t keys() const { return d.kv_heads * d.head_dim; }

  void step(std::string_view op, std::string name, Parts parts, Attributes attributes, Dims dims) {
    steps_.push_back({layer_, op, std::move(name), std::move(parts), std::move(attributes), dims});
  }
  void embed(const char* table, const char* ids, const char* y) {
    const std::int64_t vocab = std::string_view(ids) == "positions" ? d.positions : d.vocab;
    step("embedding", y, {{"table", table}, {"ids", ids}, {"y", y}}, {},
         dims_of({{Axis::tokens, s.tokens()}, {Axis::hidden, d.hidden}, {Axis::vocab, vocab}}));
  }
  Dims matrix(std::int64_t rows, std::int64_t cols) const { return dims_of({{Axis::rows, rows}, {Axis::cols, cols}}); }
  void add(const char* a, const char* b, const char* y) {
    step("add", y, {{"a", a}, {"b", b}, {"y", y}}, {}, matrix(s.tokens(), d.hidden));
  }
  void norm(const char* x, const std::string& gamma, const std::string& beta, const char* y, std::int64_t rows) {
    Parts parts{{"x", x}, {"gamma", gamma}, {"y", y}};
    if (!d.rms()) parts.emplace_back("beta", beta);
    step(d.rms() ? "rmsnorm" : "layernorm", y, std::move(parts), {{"epsilon", d.epsilon}}, matrix(rows, d.hidden));
  }
  Dims product(std::int64_t rows, std::int64_t in, std::int64_t out) const {
    return dims_of({{Axis::tokens, rows}, {Axis::hidden, in}, {Axis::out, out}, {Axis::ffn, out}});
  }
  void linear(const char* x, std::string w, const std::string* bias, const char* y, std::int64_t rows, std::int64_t in,
              std::int64_t out) {
    Parts parts{{"x", x}, {"weight", std::move(w)}, {"y", y}};
    if (bias) parts.emplace_back("bias", *bias);
    step("linear", y, std::move(parts), {{"bias", bias ? 1 : 0}}, product(rows, in, out));
  }
  void project(const char* x, const char* name, const char* bias, bool biased, const char* y, std::int64_t in, std::int64_t out) {
    const std::string b = weight(bias);
    linear(x, weight(name), biased ? &b : nullptr, y, s.tokens(), in, out);
  }
  // A product of norm1(x).
  void project_normed(const char* name, const char* bias, bool biased, const char* y, std::int64_t out) {
    if (!fused || (d.rms() && biased)) return project("norm1", name, bias, biased, y, d.hidden, out);
    Parts parts{{"x", "x"}, {"gamma", weight("gamma1")}, {"weight", weight(name)}, {"y", y}};
    Attributes attributes{{"epsilon", d.epsilon}};
    if (!d.rms()) {
      parts.emplace_back("beta", weight("beta1"));
      attributes.emplace_back("bias", biased ? 1 : 0);
    }
    if (biased) parts.emplace_back("bias", weight(bias));
    step(d.rms() ? "rmsnorm_gemm" : "layernorm_linear", y, std::move(parts), std::move(attributes),
         product(s.tokens(), d.hidden, out));
  }

  Dims heads() const {
    return dims_of({{Axis::batch, s.batch},
                    {Axis::seq_q, s.seq},
                    {Axis::seq_k, s.seq},
                    {Axis::heads, d.heads},
                    {Axis::kv_heads, d.kv_heads},
                    {Axis::head_dim, d.head_dim},
                    {Axis::pages, s.pages},
                    {Axis::page_size, s.page_size},
                    {Axis::max_pages, s.max_pages}});
  }
  void attention() {
    const bool biased = w().bq.rank != 0;
    if (joined ? layer_ == 0 : !fused || (d.rms() && biased)) norm("x", weight("gamma1"), weight("beta1"), "norm1", s.tokens());
    if (joined) {
      project("norm1", "wqkv", "bqkv", biased, "qkv", d.hidden, queries() + 2 * keys());
    } else {
      project_normed("wq", "bq", biased, d.rotates() ? "q0" : "q", queries());
      project_normed("wk", "bk", biased, d.rotates() ? "k0" : "k", keys());
      project_normed("wv", "bv", biased, "v", keys());
    }
    if (d.rotates()) rotate();
    const std::string k_pool = weight("k_pool"), v_pool = weight("v_pool");
    step("kv_append", "k_pool",
         {{"k", "k"}, {"v", "v"}, {"page_table", "page_table"}, {"lengths", "lengths"}, {"k_pool", k_pool}, {"v_pool", v_pool}},
         {}, heads());
    if (s.at_once) {
      step("attention_forward", "o", {{"q", "q"}, {"k", "k"}, {"v", "v"}, {"o", "o"}, {"lse", "lse"}}, {{"mask", 1}}, heads());
      return project_attention();
    }
    step("paged_attention", "o",
         {{"q", "q"},
          {"k_pool", k_pool},
          {"v_pool", v_pool},
          {"page_table", "page_table"},
          {"lengths", "lengths"},
          {"o", "o"},
          {"lse", "lse"}},
         {}, heads());
    project_attention();
  }
  void rotate() {
    Parts parts{{"q", "q0"}, {"k", "k0"}, {"positions", "positions"}, {"q_out", "q"}, {"k_out", "k"}};
    Attributes attributes{{"positions", 1}, {"rotary_dim", d.rotary_dim}, {"base", d.rope_base}};
    if (d.frequencies.rank) {
      parts.emplace_back("frequencies", "frequencies");
      attributes.emplace_back("frequencies", 1);
    }
    step("rope", "q", std::move(parts), std::move(attributes), heads());
  }
  void project_attention() { project("o", "wo", "bo", w().bo.rank != 0, "attn", queries(), d.hidden); }
  void layer() {
    attention();
    if (fused && !d.parallel) {
      add_and_norm("x", "attn", "h", weight("gamma2"), weight("beta2"), "norm2");
    } else {
      add("x", "attn", "h");
      norm(d.parallel ? "x" : "h", weight("gamma2"), weight("beta2"), "norm2", s.tokens());
    }
    if (d.rms()) gated();
    else activated();
    project("act", "w_down", "b_down", w().b_down.rank != 0, "mlp", d.ffn, d.hidden);
    if (!joined || layer_ + 1 == static_cast<std::int64_t>(d.layers.size())) return add("h", "mlp", "x");
    const std::string next = fmt::format("{}.", layer_ + 1);
    add_and_norm("h", "mlp", "x", next + "gamma1", next + "beta1", "norm1");
  }
  void add_and_norm(const char* a, const char* b, const char* sum, const std::string& gamma, const std::string& beta,
                    const char* y) {
    Parts parts{{"x", a}, {"residual", b}, {"gamma", gamma}, {"y", y}, {"s", sum}};
    if (!d.rms()) parts.emplace_back("beta", beta);
    step(d.rms() ? "residual_rmsnorm" : "residual_layernorm", y, std::move(parts), {{"epsilon", d.epsilon}},
         matrix(s.tokens(), d.hidden));
  }
  void gated() {
    if (fused)
      return step("gemm_swiglu", "act", {{"x", "norm2"}, {"w_gate", weight("w_gate")}, {"w_up", weight("w_up")}, {"y", "act"}},
                  {}, product(s.tokens(), d.hidden, d.ffn));
    project("norm2", "w_gate", "", false, "gate", d.hidden, d.ffn);
    project("norm2", "w_up", "", false, "up", d.hidden, d.ffn);
    step("silu_mul", "act", {{"gate", "gate"}, {"up", "up"}, {"y", "act"}}, {}, matrix(s.tokens(), d.ffn));
  }
  void activated() {
    const double form = d.activation == Activation::gelu_tanh ? 0 : 1;
    if (fused)
      return step("gelu_linear", "act", {{"x", "norm2"}, {"weight", weight("w_up")}, {"bias", weight("b_up")}, {"y", "act"}},
                  {{"bias", 1}, {"form", form}}, product(s.tokens(), d.hidden, d.ffn));
    project("norm2", "w_up", "b_up", true, "up", d.hidden, d.ffn);
    step("gelu", "act", {{"x", "up"}, {"y", "act"}}, {{"form", form}}, matrix(s.tokens(), d.ffn));
  }
};

}  // namespace

std::vector<Step> plan(const reference::Decoder& decoder, const PassShape& shape, Ops ops) {
  return Planner(decoder, shape, ops).run();
}

Part part_of(const reference::Decoder& d, std::string_view name, Ops ops) {
  if (ops != Ops::joined) return {};
  const std::int64_t queries = d.heads * d.head_dim, keys = d.kv_heads * d.head_dim, all = queries + 2 * keys;
  const std::string_view turned = d.rotates() ? "turned" : "qkv";
  if (name == "q0") return {"qkv", 0, all};
  if (name == "k0") return {"qkv", queries, all};
  if (name == "v") return {"qkv", queries + keys, all};
  if (name == "q") return {turned, 0, all};
  if (name == "k") return {turned, queries, all};
  return {};
}

std::vector<Step> every_step(const reference::Decoder& decoder, Ops ops) {
  PassShape shape{.batch = 1, .seq = 1, .pages = 1, .page_size = 1, .max_pages = 1};
  std::vector<Step> steps = plan(decoder, shape, ops);
  shape.at_once = true;
  for (Step& s : plan(decoder, shape, ops)) steps.push_back(std::move(s));
  return steps;
}

}  // namespace assay
