// SPDX-License-Identifier: Apache-2.0
#include "validate/model/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/base/unique_keys.hpp"

namespace assay {

namespace {

using Json = nlohmann::json;
using Family = reference::Decoder::Family;

Activation gelu_named(const std::string& word) { return word == "gelu" ? Activation::gelu_erf : Activation::gelu_tanh; }

// What a config.json says of rope beside its base: the object under one of two names.
std::optional<ConfigReader> rope_of(const ConfigReader& f) {
  const char *older = "rope_scaling", *newer = "rope_parameters";
  if (f.has(older) && f.has(newer) && f.json(older) != f.json(newer))
    f.refuse(fmt::format("'{}' and '{}' differ, and one of them was expected", older, newer));
  return f.of(f.has(older) ? older : newer);
}

// A number that files give under several names, of which all that are there must agree.
double number_named(const std::vector<std::pair<const ConfigReader*, const char*>>& names, double otherwise) {
  std::string first;
  double value = otherwise;
  for (const auto& [f, name] : names) {
    if (!f->has(name)) continue;
    const double v = f->number(name);
    if (first.empty()) {
      first = f->told(name);
      value = v;
    }
    if (v != value)
      f->refuse(fmt::format("'{}' is {} and '{}' is {}, and the same was expected", first, value, f->told(name), v));
  }
  return value;
}

// The base of rope's frequencies, base^(-2i/d).
double rope_base(const ConfigReader& f, const std::vector<const char*>& fields) {
  std::vector<std::pair<const ConfigReader*, const char*>> names;
  for (const char* field : fields) names.emplace_back(&f, field);
  const std::optional<ConfigReader> rope = rope_of(f);
  if (rope) names.emplace_back(&*rope, "rope_theta");
  return number_named(names, 10000);
}

// The frequencies of rope if they are scaled: divided by a factor (linear), or only those that turn less than low_freq_factor
// times within the length of the first training, with a ramp up to high_freq_factor times (llama3).  None: they are not.
std::vector<float> scaled_frequencies(const ConfigReader& f, const reference::Decoder& d) {
  const std::optional<ConfigReader> in = rope_of(f);
  const std::string type = in ? in->word("rope_type", in->word("type", "default")) : "default";
  if (type == "default") return {};
  const double factor = in->number("factor");
  double low = 0, high = 0, length = 0;
  if (type == "llama3") {
    low = in->number("low_freq_factor");
    high = in->number("high_freq_factor");
    length = static_cast<double>(in->count("original_max_position_embeddings"));
    if (!(low < high))
      in->refuse(fmt::format("'{}' is {}, and more than the low_freq_factor, {}, was expected", in->told("high_freq_factor"),
                             high, low));
  }
  std::vector<float> all(static_cast<std::size_t>(d.head_dim), 0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(d.rotary_dim) / 2; ++i) {
    const double by_base = std::pow(d.rope_base, -2 * static_cast<double>(i) / d.rotary_dim);
    const double kept = length > 0 ? std::clamp((length * by_base / (2 * std::numbers::pi) - low) / (high - low), 0.0, 1.0) : 0;
    all[i] = static_cast<float>(kept * by_base + (1 - kept) * by_base / factor);
  }
  return all;
}

void read_gpt2(const ConfigReader& f, ModelConfig& c) {
  reference::Decoder& d = c.decoder;
  d.hidden = f.count("n_embd");
  d.heads = d.kv_heads = f.count("n_head");
  d.positions = f.count("n_positions", 1024);
  d.layers.resize(static_cast<std::size_t>(f.count("n_layer")));
  d.ffn = f.count("n_inner", 4 * d.hidden);
  d.epsilon = f.number("layer_norm_epsilon", 1e-5);
  d.activation = gelu_named(f.word("activation_function", "gelu_new"));
  c.tied = f.flag("tie_word_embeddings", true);
}

void read_gptneox(const ConfigReader& f, ModelConfig& c) {
  reference::Decoder& d = c.decoder;
  d.hidden = f.count("hidden_size");
  d.heads = d.kv_heads = f.count("num_attention_heads");
  d.layers.resize(static_cast<std::size_t>(f.count("num_hidden_layers")));
  d.ffn = f.count("intermediate_size");
  d.positions = f.count("max_position_embeddings", 2048);
  d.epsilon = f.number("layer_norm_eps", 1e-5);
  d.activation = gelu_named(f.word("hidden_act", "gelu"));
  d.rope_base = rope_base(f, {"rotary_emb_base", "rope_theta"});
  d.parallel = f.flag("use_parallel_residual", true);
  c.tied = f.flag("tie_word_embeddings", false);
}

void read_llama(const ConfigReader& f, ModelConfig& c) {
  reference::Decoder& d = c.decoder;
  d.hidden = f.count("hidden_size");
  d.heads = f.count("num_attention_heads");
  d.kv_heads = f.count("num_key_value_heads", d.heads);
  d.layers.resize(static_cast<std::size_t>(f.count("num_hidden_layers")));
  d.ffn = f.count("intermediate_size");
  d.positions = f.count("max_position_embeddings", 2048);
  d.epsilon = f.number("rms_norm_eps", 1e-6);
  d.rope_base = rope_base(f, {"rope_theta"});
  c.attention_bias = f.flag("attention_bias", false);
  c.tied = f.flag("tie_word_embeddings", false);
}

// The channels of a head, and how many of them rotate.
void read_heads(const ConfigReader& f, reference::Decoder& d) {
  const bool given = d.family == Family::llama && f.has("head_dim");
  if (d.hidden % d.heads && !given) f.refuse(fmt::format("{} channels cannot be shared among {} heads", d.hidden, d.heads));
  d.head_dim = given ? f.count("head_dim") : d.hidden / d.heads;
  if (d.heads % d.kv_heads)
    f.refuse(
        fmt::format("'num_attention_heads' is {}, and a multiple of the {} key/value heads was expected", d.heads, d.kv_heads));
  if (!d.rotates()) return;
  d.rotary_dim = static_cast<double>(d.head_dim / 2 * 2);
  // Note: as in Hugging Face's models, the share of the channels is rounded down, and an odd number of them is refused.
  if (d.family == Family::gptneox) {
    const std::optional<ConfigReader> rope = rope_of(f);
    std::vector<std::pair<const ConfigReader*, const char*>> names{{&f, "rotary_pct"}, {&f, "partial_rotary_factor"}};
    if (rope) names.emplace_back(&*rope, "partial_rotary_factor");
    d.rotary_dim = std::floor(static_cast<double>(d.head_dim) * number_named(names, 0.25));
  }
  if (d.rotary_dim < 2 || std::fmod(d.rotary_dim, 2) != 0)
    f.refuse(
        fmt::format("{} of the {} channels of a head rotate, and an even number from 2 was expected", d.rotary_dim, d.head_dim));
}

}  // namespace

ModelConfig parse_config(const std::string& text, const std::string& path, const std::vector<std::string>& ignore) {
  Json json;
  if (!nests_too_deeply(text)) json = Json::parse(text, unique_keys<Json>(fmt::format("'{}': it", path)), false);
  if (!json.is_object()) throw BadInput(fmt::format("'{}': it is no JSON object", path));
  const ConfigFamily& family = config_family(json, path);
  ModelConfig c;
  c.ignored = check_fields(json, family.fields, path, ignore);
  const ConfigReader f(json, family.fields, path);
  reference::Decoder& d = c.decoder;
  d.family = family.family;
  if (d.family == Family::gpt2) read_gpt2(f, c);
  else if (d.family == Family::gptneox) read_gptneox(f, c);
  else read_llama(f, c);
  d.vocab = f.count("vocab_size");
  read_heads(f, d);
  if (d.rotates()) c.frequencies = scaled_frequencies(f, d);
  return c;
}

ModelConfig read_config(const std::string& path, const std::vector<std::string>& ignore) {
  std::string why;
  const std::optional<std::string> text = read_file(path, why);
  if (!text) throw BadInput(fmt::format("'{}' cannot be read: {}", path, why));
  return parse_config(*text, path, ignore);
}

}  // namespace assay
