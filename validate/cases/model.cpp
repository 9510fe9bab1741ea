// SPDX-License-Identifier: Apache-2.0
#include "validate/cases/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "validate/base/error.hpp"

namespace assay {
namespace {

struct Figure {
  std::string_view name;
  std::string (*of)(const Model&);
  bool count = false;
  Names words{};
};
std::string figure_text(double v) { return fmt::format("{}", v); }
std::string bias_of(const Model& m, const char* product) { return m.biases.contains(product) ? "yes" : "no"; }
std::string gelu_form(const Model& m) {
  if (m.activation == "swiglu") return "none";
  return m.activation == "gelu_erf" ? "erf" : "tanh";
}
// The form of gelu, as the op transformer_layer names it: that of the dialect, unless the model has the other one.
std::string layer_gelu(const Model& m) {
  if (m.dialect == "gpt2" && m.activation == "gelu_erf") return "erf";
  return m.dialect == "gptneox" && m.activation == "gelu_tanh" ? "tanh" : "of_dialect";
}

const Names kYesNo{"no", "yes"}, kNumber{};
const Figure kFigures[] = {
    {"hidden", [](const Model& m) { return std::to_string(m.hidden); }, true},
    {"ffn", [](const Model& m) { return std::to_string(m.ffn); }, true},
    {"heads", [](const Model& m) { return std::to_string(m.heads); }, true},
    {"kv_heads", [](const Model& m) { return std::to_string(m.kv_heads); }, true},
    {"head_dim", [](const Model& m) { return std::to_string(m.head_dim); }, true},
    {"all_heads", [](const Model& m) { return std::to_string(m.heads * m.head_dim); }, true},
    {"rotary_dim", [](const Model& m) { return std::to_string(m.rotary_dim); }},
    {"norm_epsilon", [](const Model& m) { return figure_text(m.norm_epsilon); }},
    {"rope_theta", [](const Model& m) { return figure_text(m.rope_theta); }},
    {"window", [](const Model& m) { return std::to_string(m.window); }},
    {"softcap", [](const Model& m) { return figure_text(m.softcap); }},
    {"score_scale",
     [](const Model& m) { return figure_text(m.query_pre_attn_scalar == 0 ? 0 : 1 / std::sqrt(m.query_pre_attn_scalar)); }},
    {"dialect", [](const Model& m) { return m.dialect; }, false, {"llama", "gpt2", "gptneox", "none"}},
    {"norm", [](const Model& m) { return m.norm; }, false, {"layernorm", "rmsnorm"}},
    {"activation", [](const Model& m) { return m.activation; }, false, {"gelu_tanh", "gelu_erf", "swiglu", "geglu_tanh"}},
    {"gelu_form", gelu_form, false, {"none", "tanh", "erf"}},
    {"layer_gelu", layer_gelu, false, {"of_dialect", "tanh", "erf"}},
    {"rope", [](const Model& m) { return m.rope; }, false, {"none", "half", "interleaved"}},
    {"frequencies",
     [](const Model& m) { return std::string(m.scaling.empty() ? "by_base" : "given"); },
     false,
     {"by_base", "given"}},
    {"qkv_bias", [](const Model& m) { return bias_of(m, "qkv"); }, false, kYesNo},
    {"out_bias", [](const Model& m) { return bias_of(m, "out"); }, false, kYesNo},
    {"mlp_bias", [](const Model& m) { return bias_of(m, "mlp"); }, false, kYesNo},
};
const Figure& find_figure(std::string_view name) {
  for (const Figure& f : kFigures)
    if (f.name == name) return f;
  throw BadInput(unknown("figure of a model", name, figure_names()));
}

}  // namespace

const Names& bias_words() {
  static const Names words{"qkv", "out", "mlp"};
  return words;
}

std::string missing_of_dialect(const Model& m, std::string_view dialect) {
  const bool llama = dialect == "llama", gated = m.activation == "swiglu" || m.activation == "geglu_tanh";
  if (m.norm != (llama ? "rmsnorm" : "layernorm")) return llama ? "an rmsnorm" : "a layernorm";
  if (llama ? m.activation != "swiglu" : gated) return llama ? "the activation swiglu" : "a gelu without a gate";
  if (m.biases.size() != (llama ? 0 : bias_words().size())) return llama ? "no biases" : "a bias in every product";
  if (m.rope != (dialect == "gpt2" ? "none" : "half") || !m.scaling.empty())
    return dialect == "gpt2" ? "no rope" : "rope on pairs of halves, not scaled";
  if (m.window != 0 || m.softcap != 0 || m.query_pre_attn_scalar != 0)
    return "neither a window, nor a softcap, nor a query_pre_attn_scalar";
  return "";
}

const std::vector<std::string_view>& figure_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out{"tokens"};
    for (const Figure& f : kFigures) out.push_back(f.name);
    return out;
  }();
  return names;
}

std::string figure(const Model& m, std::string_view name) { return find_figure(name).of(m); }
bool is_count(std::string_view name) { return name == "tokens" || find_figure(name).count; }
const Names& figure_words(std::string_view name) { return name == "tokens" ? kNumber : find_figure(name).words; }

}  // namespace assay
