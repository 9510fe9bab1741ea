// SPDX-License-Identifier: Apache-2.0
#include "validate/model/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"

namespace assay {

namespace {

using Json = nlohmann::json;
using Family = reference::Decoder::Family;

constexpr std::int64_t kMostExtent = std::int64_t{1} << 24, kMostLayers = 4096;

// Fields of one config.json; what is wrong with one becomes a sentence with the path.
class Fields {
 public:
  Fields(const Json& json, const std::string& path, std::string_view inside = {}) : json_(json), path_(path), inside_(inside) {}

  [[noreturn]] void refuse(std::string_view what) const {
    throw BadInput(fmt::format("'{}': {}{}", path_, inside_.empty() ? "" : fmt::format("in '{}' ", inside_), plain(what)));
  }
  bool has(const char* name) const { return json_.contains(name) && !json_[name].is_null(); }
  const Json& json(const char* name) const { return json_[name]; }
  Fields of(const char* name) const { return {json_[name], path_, name}; }

  std::int64_t count(const char* name, std::optional<std::int64_t> otherwise = {}, std::int64_t most = kMostExtent) const {
    if (!has(name) && otherwise) return *otherwise;
    const Json value = has(name) ? json_[name] : Json();
    if (!value.is_number_integer() || value < 1 || value > most)
      refuse(fmt::format("'{}' is {}, and a whole number from 1 to {} was expected", name, text(value), most));
    return value.get<std::int64_t>();
  }
  double number(const char* name, std::optional<double> otherwise, double least, double most) const {
    if (!has(name) && otherwise) return *otherwise;
    const Json value = has(name) ? json_[name] : Json();
    if (!value.is_number() || !(value.get<double>() >= least && value.get<double>() <= most))
      refuse(fmt::format("'{}' is {}, and a number from {} to {} was expected", name, text(value), least, most));
    return value.get<double>();
  }
  bool flag(const char* name, bool otherwise) const {
    if (!has(name)) return otherwise;
    if (!json_[name].is_boolean()) refuse(fmt::format("'{}' is {}, and true or false was expected", name, text(json_[name])));
    return json_[name].get<bool>();
  }
  std::string word(const char* name, const char* otherwise) const {
    if (!has(name) && otherwise) return otherwise;
    if (!has(name) || !json_[name].is_string())
      refuse(fmt::format("'{}' is {}, and a text was expected", name, text(has(name) ? json_[name] : Json())));
    return json_[name].get<std::string>();
  }
  // Refuses a field that changes what the model computes, unless it has the only value that is computed here.
  void require(const char* name, const Json& only) const {
    if (has(name) && json_[name] != only)
      refuse(fmt::format("'{}' is {}, and only {} is computed here", name, text(json_[name]), only.dump()));
  }
  static std::string text(const Json& value) {
    return value.is_null() ? "missing" : value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 60);
  }

 private:
  const Json& json_;
  const std::string& path_;
  std::string_view inside_;  // the field that this object is; empty: none
};

Activation gelu_named(const Fields& f, const char* field, const char* otherwise) {
  const std::string word = f.word(field, otherwise);
  if (word == "gelu") return Activation::gelu_erf;
  for (const char* tanh : {"gelu_new", "gelu_fast", "gelu_pytorch_tanh"})
    if (word == tanh) return Activation::gelu_tanh;
  f.refuse(fmt::format("'{}': {}", field, unknown("activation", word, {"gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh"})));
}

// What a config.json says of rope beside its base: the object under one of two names.
struct RopeFields {
  Fields fields;
  std::string type;  // default, linear or llama3
};
std::optional<RopeFields> rope_fields(const Fields& f) {
  const char *older = "rope_scaling", *newer = "rope_parameters";
  if (f.has(older) && f.has(newer) && f.json(older) != f.json(newer))
    f.refuse(fmt::format("'{}' and '{}' differ, and one of them was expected", older, newer));
  const char* const name = f.has(older) ? older : newer;
  if (!f.has(name)) return {};
  if (!f.json(name).is_object())
    f.refuse(fmt::format("'{}' is {}, and an object was expected", name, Fields::text(f.json(name))));
  const Fields in = f.of(name);
  const std::string type = in.word(in.has("rope_type") ? "rope_type" : "type", nullptr);
  for (const char* known : {"default", "linear", "llama3"})
    if (type == known) return RopeFields{in, type};
  f.refuse(fmt::format("'{}' has the type '{}', and default, linear or llama3 is computed here", name, type));
}

// The base of rope's frequencies, base^(-2i/d).
double rope_base(const Fields& f, const char* field) {
  const double base = f.number(f.has("rope_theta") ? "rope_theta" : field, 10000, 1, 0x1p60);
  const std::optional<RopeFields> rope = rope_fields(f);
  return rope ? rope->fields.number("rope_theta", base, 1, 0x1p60) : base;
}

// The frequencies of rope if they are scaled: divided by a factor (linear), or only those that turn less than low_freq_factor
// times within the length of the first training, with a ramp up to high_freq_factor times (llama3).  None: they are not.
std::vector<float> scaled_frequencies(const Fields& f, const reference::Decoder& d) {
  const std::optional<RopeFields> rope = rope_fields(f);
  if (!rope || rope->type == "default") return {};
  const Fields& in = rope->fields;
  const double factor = in.number("factor", {}, 1, 0x1p20);
  double low = 0, high = 0, length = 0;
  if (rope->type == "llama3") {
    low = in.number("low_freq_factor", {}, 0, 0x1p20), high = in.number("high_freq_factor", {}, 0, 0x1p20);
    length = static_cast<double>(in.count("original_max_position_embeddings"));
    if (!(low < high))
      in.refuse(fmt::format("'high_freq_factor' is {}, and more than the low_freq_factor, {}, was expected", high, low));
  }
  std::vector<float> all(static_cast<std::size_t>(d.head_dim), 0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(d.rotary_dim) / 2; ++i) {
    const double by_base = std::pow(d.rope_base, -2 * static_cast<double>(i) / d.rotary_dim);
    const double kept = length > 0 ? std::clamp((length * by_base / (2 * std::numbers::pi) - low) / (high - low), 0.0, 1.0) : 0;
    all[i] = static_cast<float>(kept * by_base + (1 - kept) * by_base / factor);
  }
  return all;
}

void read_gpt2(const Fields& f, ModelConfig& c) {
  reference::Decoder& d = c.decoder;
  d.hidden = f.count("n_embd"), d.heads = d.kv_heads = f.count("n_head"), d.positions = f.count("n_positions", 1024);
  d.layers.resize(static_cast<std::size_t>(f.count("n_layer", {}, kMostLayers)));
  d.ffn = f.count("n_inner", 4 * d.hidden);
  d.epsilon = f.number("layer_norm_epsilon", 1e-5, 0, 1);
  d.activation = gelu_named(f, "activation_function", "gelu_new");
  f.require("scale_attn_weights", true), f.require("scale_attn_by_inverse_layer_idx", false);
  f.require("add_cross_attention", false);
  c.tied = f.flag("tie_word_embeddings", true);
}

void read_gptneox(const Fields& f, ModelConfig& c) {
  reference::Decoder& d = c.decoder;
  d.hidden = f.count("hidden_size"), d.heads = d.kv_heads = f.count("num_attention_heads");
  d.layers.resize(static_cast<std::size_t>(f.count("num_hidden_layers", {}, kMostLayers)));
  d.ffn = f.count("intermediate_size"), d.positions = f.count("max_position_embeddings", 2048);
  d.epsilon = f.number("layer_norm_eps", 1e-5, 0, 1);
  d.activation = gelu_named(f, "hidden_act", "gelu");
  d.rope_base = rope_base(f, "rotary_emb_base");
  d.parallel = f.flag("use_parallel_residual", true);
  f.require("attention_bias", true);
  c.tied = f.flag("tie_word_embeddings", false);
}

void read_llama(const Fields& f, ModelConfig& c) {
  reference::Decoder& d = c.decoder;
  d.hidden = f.count("hidden_size"), d.heads = f.count("num_attention_heads"),
  d.kv_heads = f.count("num_key_value_heads", d.heads);
  d.layers.resize(static_cast<std::size_t>(f.count("num_hidden_layers", {}, kMostLayers)));
  d.ffn = f.count("intermediate_size"), d.positions = f.count("max_position_embeddings", 2048);
  d.epsilon = f.number("rms_norm_eps", 1e-6, 0, 1);
  d.rope_base = rope_base(f, "rope_theta");
  f.require("hidden_act", "silu"), f.require("mlp_bias", false), f.require("partial_rotary_factor", 1);
  if (const std::optional<RopeFields> rope = rope_fields(f)) rope->fields.require("partial_rotary_factor", 1);
  c.attention_bias = f.flag("attention_bias", false);
  c.tied = f.flag("tie_word_embeddings", false);
}

}  // namespace

ModelConfig parse_config(const std::string& text, const std::string& path) {
  Json json;
  if (!nests_too_deeply(text)) json = Json::parse(text, nullptr, false);
  const Fields f(json, path);
  if (!json.is_object()) f.refuse("it is no JSON object");
  ModelConfig c;
  reference::Decoder& d = c.decoder;
  const std::string type = f.word("model_type", nullptr);
  if (type == "gpt2") d.family = Family::gpt2, read_gpt2(f, c);
  else if (type == "gpt_neox") d.family = Family::gptneox, read_gptneox(f, c);
  else if (type == "llama") d.family = Family::llama, read_llama(f, c);
  else f.refuse(fmt::format("'model_type': {}", unknown("family", type, {"gpt2", "gpt_neox", "llama"})));
  d.vocab = f.count("vocab_size");
  if (d.hidden % d.heads && !f.has("head_dim"))
    f.refuse(fmt::format("{} channels cannot be shared among {} heads", d.hidden, d.heads));
  d.head_dim = d.family == Family::llama ? f.count("head_dim", d.hidden / d.heads) : d.hidden / d.heads;
  if (d.heads % d.kv_heads)
    f.refuse(
        fmt::format("'num_attention_heads' is {}, and a multiple of the {} key/value heads was expected", d.heads, d.kv_heads));
  if (d.family == Family::llama) d.rotary_dim = static_cast<double>(d.head_dim / 2 * 2);
  // Note: as in Hugging Face's models, the share of the channels is rounded down, and an odd number of them is refused.
  if (d.family == Family::gptneox) {
    const double share = f.number("rotary_pct", 0.25, 0, 1);
    const std::optional<RopeFields> rope = rope_fields(f);
    d.rotary_dim =
        std::floor(static_cast<double>(d.head_dim) * (rope ? rope->fields.number("partial_rotary_factor", share, 0, 1) : share));
  }
  if (d.rotates() && (d.rotary_dim < 2 || std::fmod(d.rotary_dim, 2) != 0))
    f.refuse(
        fmt::format("{} of the {} channels of a head rotate, and an even number from 2 was expected", d.rotary_dim, d.head_dim));
  if (d.rotates()) c.frequencies = scaled_frequencies(f, d);
  return c;
}

ModelConfig read_config(const std::string& path) {
  std::string why;
  const std::optional<std::string> text = read_file(path, why);
  if (!text) throw BadInput(fmt::format("'{}' cannot be read: {}", path, why));
  return parse_config(*text, path);
}

}  // namespace assay
