// SPDX-License-Identifier: Apache-2.0
#include "validate/model/plan.hpp"

#include <fmt/format.h>

#include <optional>

#include "ops/core/stage.hpp"

namespace assay {

namespace {

using Kind = ModelTensor::Kind;
using Layer = reference::Decoder::Layer;
using Parts = std::vector<std::pair<std::string_view, ModelTensor>>;
using Attributes = std::vector<std::pair<std::string_view, double>>;

// A weight of a layer, and its name.
struct Weight {
  std::string_view name;
  Tensor Layer::*field;
};
constexpr Weight kGamma1{"gamma1", &Layer::gamma1}, kBeta1{"beta1", &Layer::beta1};
constexpr Weight kWq{"wq", &Layer::wq}, kWk{"wk", &Layer::wk}, kWv{"wv", &Layer::wv};
constexpr Weight kBq{"bq", &Layer::bq}, kBk{"bk", &Layer::bk}, kBv{"bv", &Layer::bv};
constexpr Weight kWo{"wo", &Layer::wo}, kBo{"bo", &Layer::bo};
constexpr Weight kGamma2{"gamma2", &Layer::gamma2}, kBeta2{"beta2", &Layer::beta2};
constexpr Weight kWGate{"w_gate", &Layer::w_gate};
constexpr Weight kWUp{"w_up", &Layer::w_up}, kBUp{"b_up", &Layer::b_up};
constexpr Weight kWDown{"w_down", &Layer::w_down}, kBDown{"b_down", &Layer::b_down};

// A tensor that steps of the pass write, or that it is given.
ModelTensor pass(std::string name) { return {.kind = Kind::pass, .name = std::move(name)}; }

class Planner {
 public:
  Planner(const reference::Decoder& decoder, const PassShape& shape, Ops ops)
      : d(decoder), s(shape), fused(ops != Ops::steps), joined(ops == Ops::joined) {}

  std::vector<Step> run() {
    const bool learned = d.position_embedding.rank != 0;
    embed({Kind::table, "embedding", {&d.embedding}}, d.vocab, "ids", learned ? "e" : "x");
    if (learned) {
      embed({Kind::table, "position_embedding", {&d.position_embedding}}, d.positions, "positions", "p");
      add("e", "p", "x");
    }
    for (layer_ = 0; layer_ < static_cast<std::int64_t>(d.layers.size()); ++layer_) layer();
    const std::int64_t rows = s.all_logits ? s.tokens() : s.batch;
    norm(s.all_logits ? pass("x") : last_x(), {Kind::weight, "gamma", {&d.gamma}}, {Kind::weight, "beta", {&d.beta}}, "normed",
         rows);
    linear(pass("normed"), {Kind::weight, "head", {&d.head}}, {}, pass("logits"), rows, d.hidden, head_rows(d));
    return std::move(steps_);
  }

 private:
  const reference::Decoder& d;
  const PassShape& s;
  const bool fused, joined;
  std::int64_t layer_ = -1;
  std::vector<Step> steps_;

  const Layer& w() const { return d.layers[static_cast<std::size_t>(layer_)]; }
  ModelTensor weight_of(std::int64_t layer, Weight w) const {
    return {Kind::weight, fmt::format("{}.{}", layer, w.name), {&(d.layers[static_cast<std::size_t>(layer)].*w.field)}};
  }
  ModelTensor weight(Weight w) const { return weight_of(layer_, w); }
  // Three weights that follow each other.
  ModelTensor joined_weight(std::string_view name, Weight q, Weight k, Weight v) const {
    return {Kind::weight, fmt::format("{}.{}", layer_, name), {&(w().*q.field), &(w().*k.field), &(w().*v.field)}};
  }
  // None if the model lacks it.
  std::optional<ModelTensor> bias(Weight b) const { return (w().*b.field).rank ? std::optional(weight(b)) : std::nullopt; }
  ModelTensor cache(std::string_view name) const { return {Kind::cache, fmt::format("{}.{}", layer_, name)}; }
  // The last new token of each sequence.
  ModelTensor last_x() const {
    return {Kind::pass, "x_last", {}, {"x", s.tokens() * d.hidden, (s.seq - 1) * d.hidden, s.seq * d.hidden}};
  }
  // With Ops::joined, q, k and v of a token follow each other in one tensor, as does what rope makes of q and k.
  ModelTensor column_of(const char* whole, std::int64_t first, const char* name) const {
    if (!joined) return pass(name);
    const std::int64_t all = queries() + 2 * keys();
    return {Kind::pass, name, {}, {whole, s.tokens() * all, first, all}};
  }
  const char* turned() const { return d.rotates() ? "turned" : "qkv"; }
  ModelTensor q0() const { return column_of("qkv", 0, "q0"); }
  ModelTensor k0() const { return column_of("qkv", queries(), "k0"); }
  ModelTensor v() const { return column_of("qkv", queries() + keys(), "v"); }
  ModelTensor q() const { return column_of(turned(), 0, "q"); }
  ModelTensor k() const { return column_of(turned(), queries(), "k"); }
  std::int64_t queries() const { return d.heads * d.head_dim; }
  std::int64_t keys() const { return d.kv_heads * d.head_dim; }

  void step(std::string_view op, std::string name, Parts parts, Attributes attributes, Dims dims) {
    steps_.push_back({layer_, op, std::move(name), std::move(parts), std::move(attributes), dims});
  }
  void embed(ModelTensor table, std::int64_t vocab, const char* ids, const char* y) {
    step("embedding", y, {{"table", std::move(table)}, {"ids", pass(ids)}, {"y", pass(y)}}, {},
         dims_of({{Axis::tokens, s.tokens()}, {Axis::hidden, d.hidden}, {Axis::vocab, vocab}}));
  }
  Dims matrix(std::int64_t rows, std::int64_t cols) const { return dims_of({{Axis::rows, rows}, {Axis::cols, cols}}); }
  void add(const char* a, const char* b, const char* y) {
    step("add", y, {{"a", pass(a)}, {"b", pass(b)}, {"y", pass(y)}}, {}, matrix(s.tokens(), d.hidden));
  }
  void norm(ModelTensor x, ModelTensor gamma, ModelTensor beta, const char* y, std::int64_t rows) {
    Parts parts{{"x", std::move(x)}, {"gamma", std::move(gamma)}, {"y", pass(y)}};
    if (!d.rms()) parts.emplace_back("beta", std::move(beta));
    step(d.rms() ? "rmsnorm" : "layernorm", y, std::move(parts), {{"epsilon", d.epsilon}}, matrix(rows, d.hidden));
  }
  Dims product(std::int64_t rows, std::int64_t in, std::int64_t out) const {
    return dims_of({{Axis::tokens, rows}, {Axis::hidden, in}, {Axis::out, out}, {Axis::ffn, out}});
  }
  void linear(ModelTensor x, ModelTensor w, std::optional<ModelTensor> bias, ModelTensor y, std::int64_t rows, std::int64_t in,
              std::int64_t out) {
    const std::string name = y.name;
    const double biased = bias ? 1 : 0;
    Parts parts{{"x", std::move(x)}, {"weight", std::move(w)}, {"y", std::move(y)}};
    if (bias) parts.emplace_back("bias", std::move(*bias));
    step("linear", name, std::move(parts), {{"bias", biased}}, product(rows, in, out));
  }
  void project(const char* x, ModelTensor w, std::optional<ModelTensor> bias, ModelTensor y, std::int64_t in, std::int64_t out) {
    linear(pass(x), std::move(w), std::move(bias), std::move(y), s.tokens(), in, out);
  }
  // A product of norm1(x).
  void project_normed(ModelTensor w, std::optional<ModelTensor> bias, ModelTensor y, std::int64_t out) {
    if (!fused || (d.rms() && bias)) return project("norm1", std::move(w), std::move(bias), std::move(y), d.hidden, out);
    const std::string name = y.name;
    Parts parts{{"x", pass("x")}, {"gamma", weight(kGamma1)}, {"weight", std::move(w)}, {"y", std::move(y)}};
    Attributes attributes{{"epsilon", d.epsilon}};
    if (!d.rms()) {
      parts.emplace_back("beta", weight(kBeta1));
      attributes.emplace_back("bias", bias ? 1 : 0);
    }
    if (bias) parts.emplace_back("bias", std::move(*bias));
    step(d.rms() ? "rmsnorm_gemm" : "layernorm_linear", name, std::move(parts), std::move(attributes),
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
    const auto bias_if_biased = [&](Weight b) { return biased ? std::optional(weight(b)) : std::nullopt; };
    if (joined ? layer_ == 0 : !fused || (d.rms() && biased))
      norm(pass("x"), weight(kGamma1), weight(kBeta1), "norm1", s.tokens());
    if (joined) {
      std::optional<ModelTensor> bias;
      if (biased) bias = joined_weight("bqkv", kBq, kBk, kBv);
      project("norm1", joined_weight("wqkv", kWq, kWk, kWv), std::move(bias), pass("qkv"), d.hidden, queries() + 2 * keys());
    } else {
      project_normed(weight(kWq), bias_if_biased(kBq), d.rotates() ? q0() : q(), queries());
      project_normed(weight(kWk), bias_if_biased(kBk), d.rotates() ? k0() : k(), keys());
      project_normed(weight(kWv), bias_if_biased(kBv), v(), keys());
    }
    if (d.rotates()) rotate();
    const ModelTensor k_pool = cache("k_pool"), v_pool = cache("v_pool");
    step("kv_append", "k_pool",
         {{"k", k()},
          {"v", v()},
          {"page_table", pass("page_table")},
          {"lengths", pass("lengths")},
          {"k_pool", k_pool},
          {"v_pool", v_pool}},
         {}, heads());
    if (s.at_once) {
      step("attention_forward", "o", {{"q", q()}, {"k", k()}, {"v", v()}, {"o", pass("o")}, {"lse", pass("lse")}}, {{"mask", 1}},
           heads());
      return project_attention();
    }
    step("paged_attention", "o",
         {{"q", q()},
          {"k_pool", k_pool},
          {"v_pool", v_pool},
          {"page_table", pass("page_table")},
          {"lengths", pass("lengths")},
          {"o", pass("o")},
          {"lse", pass("lse")}},
         {}, heads());
    project_attention();
  }
  void rotate() {
    Parts parts{{"q", q0()}, {"k", k0()}, {"positions", pass("positions")}, {"q_out", q()}, {"k_out", k()}};
    Attributes attributes{{"positions", 1}, {"rotary_dim", d.rotary_dim}, {"base", d.rope_base}};
    if (d.frequencies.rank) {
      parts.emplace_back("frequencies", ModelTensor{Kind::weight, "frequencies", {&d.frequencies}});
      attributes.emplace_back("frequencies", 1);
    }
    step("rope", "q", std::move(parts), std::move(attributes), heads());
  }
  void project_attention() { project("o", weight(kWo), bias(kBo), pass("attn"), queries(), d.hidden); }
  void layer() {
    attention();
    if (fused && !d.parallel) {
      add_and_norm("x", "attn", "h", weight(kGamma2), weight(kBeta2), "norm2");
    } else {
      add("x", "attn", "h");
      norm(pass(d.parallel ? "x" : "h"), weight(kGamma2), weight(kBeta2), "norm2", s.tokens());
    }
    if (d.rms()) gated();
    else activated();
    project("act", weight(kWDown), bias(kBDown), pass("mlp"), d.ffn, d.hidden);
    if (!joined || layer_ + 1 == static_cast<std::int64_t>(d.layers.size())) return add("h", "mlp", "x");
    add_and_norm("h", "mlp", "x", weight_of(layer_ + 1, kGamma1), weight_of(layer_ + 1, kBeta1), "norm1");
  }
  void add_and_norm(const char* a, const char* b, const char* sum, ModelTensor gamma, ModelTensor beta, const char* y) {
    Parts parts{{"x", pass(a)}, {"residual", pass(b)}, {"gamma", std::move(gamma)}, {"y", pass(y)}, {"s", pass(sum)}};
    if (!d.rms()) parts.emplace_back("beta", std::move(beta));
    step(d.rms() ? "residual_rmsnorm" : "residual_layernorm", y, std::move(parts), {{"epsilon", d.epsilon}},
         matrix(s.tokens(), d.hidden));
  }
  void gated() {
    if (fused)
      return step("gemm_swiglu", "act",
                  {{"x", pass("norm2")}, {"w_gate", weight(kWGate)}, {"w_up", weight(kWUp)}, {"y", pass("act")}}, {},
                  product(s.tokens(), d.hidden, d.ffn));
    project("norm2", weight(kWGate), {}, pass("gate"), d.hidden, d.ffn);
    project("norm2", weight(kWUp), {}, pass("up"), d.hidden, d.ffn);
    step("silu_mul", "act", {{"gate", pass("gate")}, {"up", pass("up")}, {"y", pass("act")}}, {}, matrix(s.tokens(), d.ffn));
  }
  void activated() {
    const double form = d.activation == Activation::gelu_tanh ? 0 : 1;
    if (fused)
      return step("gelu_linear", "act",
                  {{"x", pass("norm2")}, {"weight", weight(kWUp)}, {"bias", weight(kBUp)}, {"y", pass("act")}},
                  {{"bias", 1}, {"form", form}}, product(s.tokens(), d.hidden, d.ffn));
    project("norm2", weight(kWUp), weight(kBUp), pass("up"), d.hidden, d.ffn);
    step("gelu", "act", {{"x", pass("up")}, {"y", pass("act")}}, {{"form", form}}, matrix(s.tokens(), d.ffn));
  }
};

}  // namespace

std::vector<Step> plan(const reference::Decoder& decoder, const PassShape& shape, Ops ops) {
  return Planner(decoder, shape, ops).run();
}

std::vector<Step> every_step(const reference::Decoder& decoder, Ops ops) {
  PassShape shape{.batch = 1, .seq = 1, .pages = 1, .page_size = 1, .max_pages = 1};
  std::vector<Step> steps = plan(decoder, shape, ops);
  shape.at_once = true;
  for (Step& s : plan(decoder, shape, ops)) steps.push_back(std::move(s));
  return steps;
}

}  // namespace assay
