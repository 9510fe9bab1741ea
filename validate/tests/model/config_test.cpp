// SPDX-License-Identifier: Apache-2.0
// The fields of a config.json: what is taken, what is refused, and what --ignore-field lifts.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "model/shipped.hpp"
#include "validate/base/error.hpp"

namespace assay {
namespace {

using Kind = ConfigField::Kind;

ModelConfig parsed(const Json& config, const std::vector<std::string>& ignore = {}) {
  return parse_config(config.dump(), "config.json", ignore);
}
// What is said of a text that is refused; empty: it is taken.
std::string said_of(const std::string& text, const std::vector<std::string>& ignore = {}) {
  try {
    parse_config(text, "config.json", ignore);
  } catch (const BadInput& e) {
    return e.what();
  }
  return "";
}
std::string said_of(const Json& config, const std::vector<std::string>& ignore = {}) { return said_of(config.dump(), ignore); }
Json with_field(Json config, const std::string& field, const Json& value) {
  config[field] = value;
  return config;
}

// All that a config.json decides.
std::string facts(const ModelConfig& c) {
  const reference::Decoder& d = c.decoder;
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", static_cast<int>(d.family), d.layers.size(), d.hidden,
                     d.heads, d.kv_heads, d.head_dim, d.ffn, d.vocab, d.positions, d.epsilon, d.rope_base, d.rotary_dim,
                     d.parallel, static_cast<int>(d.activation), c.tied, c.attention_bias, fmt::join(c.frequencies, ","));
}

// A field of a family's table in a valid config.json: one of its own, or one inside of rope's object.
struct FieldPlace {
  const ConfigField* field;
  std::string told;  // as messages name it
  Json config;       // without the field, or with a right value
  std::string object;

  Json set(const Json& value) const {
    Json changed = config;
    (object.empty() ? changed : changed[object])[std::string(field->name)] = value;
    return changed;
  }
};
std::vector<FieldPlace> places() {
  const Json llama3{{"rope_type", "llama3"},
                    {"factor", 8},
                    {"low_freq_factor", 1},
                    {"high_freq_factor", 4},
                    {"original_max_position_embeddings", 512}};
  std::vector<FieldPlace> all;
  for (const ConfigFamily& family : config_families()) {
    const auto shipped =
        std::find_if(std::begin(kShipped), std::end(kShipped), [&](const Shipped& s) { return s.family == family.name; });
    REQUIRE(shipped != std::end(kShipped));
    const Json config = Json::parse(shipped->config);
    for (const ConfigField& f : family.fields) {
      all.push_back({&f, std::string(f.name), config, ""});
      Json scaled = config;
      if (f.kind == Kind::rope) {
        scaled.erase("rope_scaling");
        scaled[std::string(f.name)] = llama3;
      }
      for (const ConfigField& in : f.inside)
        all.push_back({&in, fmt::format("{}.{}", f.name, in.name), scaled, std::string(f.name)});
    }
  }
  return all;
}

TEST_CASE("model: files config.json as Hugging Face's models have them are taken", "[model]") {
  for (const Shipped& s : kShipped) {
    INFO(s.name);
    REQUIRE(said_of(std::string(s.config)) == "");
    const ModelConfig c = parse_config(s.config, s.name);
    const reference::Decoder& d = c.decoder;
    CHECK(std::vector{d.hidden, d.heads, d.kv_heads, d.head_dim, d.ffn, d.positions} ==
          std::vector{s.hidden, s.heads, s.kv_heads, s.head_dim, s.ffn, s.positions});
    CHECK(d.rotary_dim == s.rotary_dim);
    CHECK(d.rope_base == s.rope_base);
    CHECK(c.tied == s.tied);
    CHECK(c.frequencies.empty() != s.scaled);
    CHECK(c.ignored.empty());
  }
}

TEST_CASE("model: a field that asks for what is not computed is refused by name, and --ignore-field lifts it alone", "[model]") {
  const std::vector<std::pair<std::string, Json>> everywhere{
      {"quantization_config", {{"quant_method", "awq"}, {"bits", 4}}},
      {"sliding_window", 4096},
      {"use_sliding_window", true},
      {"layer_types", {"full_attention", "sliding_attention"}},
      {"attn_logit_softcapping", 50.0},
      {"final_logit_softcapping", 30.0},
      {"num_experts", 8},
      {"num_local_experts", 8},
      {"num_experts_per_tok", 2},
      {"attention_sinks", true},
      {"attention_multiplier", 0.0078125},
      {"logits_scaling", 8.0},
      {"embedding_multiplier", 12.0},
      {"residual_multiplier", 0.22},
      {"query_pre_attn_scalar", 256},
      {"use_qk_norm", true},
      {"auto_map", {{"AutoModelForCausalLM", "modeling.Other"}}},
      {"text_config", Json::object()},
      {"is_encoder_decoder", true},
      {"pruned_heads", {{"1", {0}}}},
      {"torch_dtype", "float8_e4m3fn"},
      {"architectures", {"OtherForCausalLM"}},
      {"foo", 1},
      {"foo", nullptr},
      {"", "nameless"},
  };
  const std::vector<std::tuple<std::string, std::string, Json>> of_family{
      {"llama", "hidden_act", "gelu"},
      {"llama", "mlp_bias", true},
      {"llama", "partial_rotary_factor", 0.5},
      {"llama", "pretraining_tp", 2},
      {"llama", "rope_interleaved", true},
      {"llama", "n_embd", 4096},
      {"gpt2", "activation_function", "relu"},
      {"gpt2", "scale_attn_weights", false},
      {"gpt2", "scale_attn_by_inverse_layer_idx", true},
      {"gpt2", "reorder_and_upcast_attn", true},
      {"gpt2", "add_cross_attention", true},
      {"gpt2", "rope_theta", 10000.0},
      {"gpt2", "partial_rotary_factor", 0.5},
      {"gpt2", "hidden_size", 512},
      {"gpt_neox", "attention_bias", false},
      {"gpt_neox", "head_dim", 64},
      {"gpt_neox", "num_key_value_heads", 4},
      {"gpt_neox", "rms_norm_eps", 1e-6},
  };
  for (const Shipped& s : kShipped) {
    std::vector<std::pair<std::string, Json>> asked = everywhere;
    for (const auto& [family, field, value] : of_family)
      if (family == s.family) asked.emplace_back(field, value);
    Json config = Json::parse(s.config);
    for (const auto& [field, value] : asked) {
      INFO(s.name << ": " << field << " = " << value);
      const std::string said = said_of(with_field(config, field, value));
      const std::string name_and_value = fmt::format("'{}' is {}", field, value.dump());
      CHECK(has(said, "'config.json': " + name_and_value));
      CHECK(has(said, ", and that is not computed here  (--ignore-field " + field + " computes as if it were not there)"));
      const ModelConfig lifted = parsed(with_field(config, field, value), {field});
      CHECK(lifted.ignored == IgnoredFields{{field, value.dump()}});
      Json without = config;
      without.erase(field);
      CHECK(facts(lifted) == facts(parsed(without)));
      CHECK(has(said_of(with_field(with_field(config, field, value), "bar", 2), {field}),
                "'config.json': 'bar' is 2, and that is not"));
    }
  }
}

TEST_CASE("model: all fields that are refused are told in one sentence", "[model]") {
  Json config = with_field(with_field(Json::parse(kShipped[0].config), "sliding_window", 4096), "hidden_act", "gelu");
  CHECK(said_of(config) ==
        "'config.json': 'hidden_act' is \"gelu\" instead of \"silu\" or \"swish\", 'sliding_window' is 4096 instead of null, and "
        "that "
        "is not computed here  (--ignore-field NAME for each of them computes as if it were not there)");
  CHECK(parsed(config, {"sliding_window", "hidden_act"}).ignored ==
        IgnoredFields{{"hidden_act", "\"gelu\""}, {"sliding_window", "4096"}});
  for (int i = 0; i < 20; ++i) config["x" + std::to_string(i)] = std::string(100, 'x');
  CHECK(has(said_of(config), " and 14 more fields, and that is not"));
  CHECK(said_of(config).size() < 1000);
  const std::string endless(100'000, 'x');
  CHECK(said_of(with_field(Json::parse(kShipped[0].config), endless, endless)).size() < 1000);
}

TEST_CASE("model: --ignore-field takes only what would be refused", "[model]") {
  const Json config = Json::parse(kShipped[0].config), windowed = with_field(config, "sliding_window", 4096);
  CHECK(has(said_of(config, {"sliding_window"}), "--ignore-field sliding_window: 'config.json' has no such field"));
  CHECK(has(said_of(windowed, {"sliding_window", "slidng_window"}),
            "--ignore-field slidng_window: 'config.json' has no such field"));
  for (const std::string field : {"use_cache", "hidden_size", "rope_scaling", "hidden_act", "model_type"})
    CHECK(has(said_of(config, {field}),
              "--ignore-field " + field + ": that field of 'config.json' is not refused, so there is nothing to ignore"));
  CHECK(has(said_of(config, {""}), "has no such field"));
  CHECK(said_of(windowed, {"sliding_window", "sliding_window"}) == "");
  // What must be there, or is wrong rather than not computed, cannot be left out.
  CHECK(has(said_of(with_field(config, "hidden_size", "x"), {"hidden_size"}), "'hidden_size' is \"x\", and a whole number"));
  CHECK(has(said_of(with_field(config, "rms_norm_eps", "x"), {"rms_norm_eps"}),
            "'rms_norm_eps' is \"x\", and a number from 0 to 1"));
}

TEST_CASE("model: scaling of rope that is not computed is refused field by field", "[model]") {
  const Json yarn{{"type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 4096}, {"beta_fast", 32}};
  const Json config = with_field(Json::parse(kShipped[0].config), "rope_scaling", yarn);
  CHECK(has(said_of(config),
            "'rope_scaling.beta_fast' is 32, 'rope_scaling.factor' is 4.0, "
            "'rope_scaling.original_max_position_embeddings' is 4096, "
            "'rope_scaling.type' is \"yarn\" instead of \"default\" or \"linear\" or \"llama3\", and that"));
  const std::vector<std::string> all{"rope_scaling.type", "rope_scaling.factor", "rope_scaling.original_max_position_embeddings",
                                     "rope_scaling.beta_fast"};
  CHECK(facts(parsed(config, all)) == facts(parsed(Json::parse(kShipped[0].config))));
  for (const char* type : {"dynamic", "longrope", "su", "mrope", "proportional"})
    CHECK(has(said_of(with_field(config, "rope_scaling", Json{{"rope_type", type}})),
              fmt::format("'rope_scaling.rope_type' is \"{}\"", type)));
  // A field of another type would have no effect.
  CHECK(has(said_of(with_field(config, "rope_scaling", Json{{"type", "default"}, {"factor", 4}})),
            "'rope_scaling.factor' is 4, and that"));
  CHECK(has(said_of(with_field(config, "rope_scaling", Json{{"type", "linear"}, {"factor", 4}, {"low_freq_factor", 1}})),
            "'rope_scaling.low_freq_factor' is 1, and that"));
  CHECK(has(said_of(with_field(config, "rope_scaling", Json{{"type", "linear"}, {"rope_type", "default"}})),
            "'rope_scaling.rope_type' and 'rope_scaling.type' differ, and one of them was expected"));
}

TEST_CASE("model: numbers that are given under several names must agree", "[model]") {
  const Json neox = Json::parse(std::end(kShipped)[-1].config);
  CHECK(has(said_of(with_field(neox, "rope_theta", 20000)),
            "'rotary_emb_base' is 10000 and 'rope_theta' is 20000, and the same was expected"));
  CHECK(has(said_of(with_field(neox, "partial_rotary_factor", 0.5)),
            "'rotary_pct' is 0.25 and 'partial_rotary_factor' is 0.5, and the same was expected"));
  const Json llama = with_field(Json::parse(kShipped[0].config), "rope_theta", 1e4);
  CHECK(has(said_of(with_field(llama, "rope_scaling", Json{{"type", "default"}, {"rope_theta", 5e5}})),
            "'rope_theta' is 10000 and 'rope_scaling.rope_theta' is 500000, and the same was expected"));
}

TEST_CASE("model: a field that is given twice is refused, wherever it is", "[model]") {
  const std::string llama = Json(Json::parse(kShipped[0].config)).dump().substr(1);
  CHECK(said_of("{\"sliding_window\": 64, \"sliding_window\": null, " + llama) == "'config.json': it has 'sliding_window' twice");
  CHECK(said_of("{\"rope_theta\": 1.0, \"rope_theta\": 2.0, " + llama).find("'config.json': it has 'rope_theta' twice") == 0);
  CHECK(said_of(std::string(R"({"a": {"factor": 4.0, "factor": 1.0}})")) == "'config.json': it has 'factor' twice");
  CHECK_THROWS_AS(parse_index(R"({"weight_map": {"a": "x.safetensors", "a": "y.safetensors"}})", "index"), BadInput);
}

TEST_CASE("model: a field of a wrong type or out of its range is told in a sentence, whichever of the table it is", "[model]") {
  const Json wrong[] = {"16",
                        "",
                        -1,
                        -0.5,
                        1e300,
                        2'000'000'000'000'000'000,
                        18'446'744'073'709'551'615U,
                        nullptr,
                        Json::array(),
                        {1, 2},
                        Json::object(),
                        {{"x", 1}}};
  std::size_t tried = 0;
  for (const FieldPlace& p : places()) {
    if (p.field->kind == Kind::harmless) continue;
    for (const Json& value : wrong) {
      const std::vector<Json>& values = p.field->values;
      if ((value.is_null() && p.field->or_null) || std::find(values.begin(), values.end(), value) != values.end()) continue;
      INFO(p.told << " = " << value);
      const std::string said = said_of(p.set(value));
      ++tried;
      CHECK(has(said, "'config.json': "));
      CHECK(has(said, "'" + p.told));
      const auto says = [&](const char* part) { return said.find(part) != said.npos; };
      CHECK((says(" expected") || says(" is not computed here") || says("unknown family")));
      CHECK(said.find('\n') == said.npos);
    }
    // Python writes these, and JSON has no such numbers.
    for (const char* number : {"NaN", "Infinity", "-Infinity", "1e999"}) {
      const std::string mark = "where the number goes", quoted = Json(mark).dump();
      std::string text = p.set(mark).dump();
      text.replace(text.find(quoted), quoted.size(), number);
      INFO(p.told << " = " << number);
      CHECK(said_of(text) == "'config.json': it is no JSON object");
    }
  }
  CHECK(tried > 900);
}

TEST_CASE("model: whole numbers are no fractions, numbers no flags, and flags no numbers", "[model]") {
  for (const FieldPlace& p : places()) {
    INFO(p.told);
    if (p.field->kind == Kind::count) CHECK(has(said_of(p.set(2.5)), p.field->expected()));
    if (p.field->kind == Kind::count) CHECK(has(said_of(p.set(0)), p.field->expected()));
    if (p.field->kind == Kind::count || p.field->kind == Kind::number) CHECK(has(said_of(p.set(true)), p.field->expected()));
    if (p.field->kind == Kind::flag) CHECK(has(said_of(p.set(1)), "true or false was expected"));
  }
}

TEST_CASE("model: each field that counts as used changes what is computed, and no harmless one does", "[model]") {
  std::size_t used = 0, harmless = 0;
  for (const FieldPlace& p : places()) {
    INFO(p.told);
    const std::string before = facts(parsed(p.config));
    std::vector<Json> others;
    switch (p.field->kind) {
      case Kind::count: others = {3, 64, 384}; break;
      case Kind::number: others = {0.5, 2, 12345}; break;
      case Kind::flag: others = {true, false}; break;
      case Kind::harmless: others = {0, 3, true, "x", nullptr, {1, 2}}; break;
      default: continue;
    }
    std::set<std::string> seen;
    for (const Json& other : others) {
      if (!p.field->fits(other)) continue;  // is refused for its range alone
      const std::string said = said_of(p.set(other));
      seen.insert(said.empty() ? facts(parsed(p.set(other))) : said);
    }
    seen.insert(before);
    const bool is_harmless = p.field->kind == Kind::harmless;
    CHECK((seen.size() == 1) == is_harmless);
    ++(is_harmless ? harmless : used);
  }
  CHECK(used > 50);
  CHECK(harmless > 150);
}

TEST_CASE("model: a family's table has each name once", "[model]") {
  for (const ConfigFamily& family : config_families()) {
    std::set<std::string_view> names;
    for (const ConfigField& f : family.fields) {
      INFO(family.name << ": " << f.name);
      CHECK(names.insert(f.name).second);
    }
  }
}

TEST_CASE("model: a family that is not known is not taken for another one", "[model]") {
  const auto says = [](const char* type) { return said_of(with_field(Json::parse(kShipped[0].config), "model_type", type)); };
  const std::pair<const char*, const char*> mistyped[] = {
      {"lama", "llama"},        {"llamma", "llama"},     {"Llama", "llama"},      {"gpt-2", "gpt2"},
      {"gpt-neox", "gpt_neox"}, {"gptneox", "gpt_neox"}, {"gpt_noex", "gpt_neox"}};
  for (const auto& [typed, meant] : mistyped)
    CHECK(says(typed) == fmt::format("'config.json': 'model_type': unknown family '{}'. Did you mean '{}'?", typed, meant));
  for (const char* other : {"gpt_oss",     "gpt_neo", "gptj",    "gpt_bigcode", "gpt_neox_japanese",
                            "mistral",     "mixtral", "qwen2",   "qwen3",       "qwen3_moe",
                            "gemma",       "gemma2",  "phi3",    "olmo",        "llama4",
                            "llama4_text", "llava",   "mllama",  "mamba",       "opt",
                            "git",         "mpt",     "granite", "x",           ""})
    CHECK(says(other) == fmt::format("'config.json': 'model_type': unknown family '{}'. Known: gpt2, gpt_neox, llama.", other));
  CHECK(says(std::string(100'000, 'l').c_str()).size() < 300);
}

// Weights of a tiny model with one more tensor.
std::string said_of_weights(const std::string& family, const std::string& tensor, const Json& changed = Json::object(),
                            std::optional<float> value = 0) {
  TensorFile all;
  std::vector<TensorFile> parts;
  for (const auto& file : std::filesystem::directory_iterator(kFolder + family))
    if (file.path().extension() == ".safetensors") parts.push_back(read_tensors(file.path().string()));
  for (const TensorFile& part : parts) all.tensors.insert(all.tensors.end(), part.tensors.begin(), part.tensors.end());
  const FileTensor* const head = all.find("model.embed_tokens.weight");
  std::vector<float> data(64, value.value_or(0));
  FileTensor extra{.name = tensor, .dtype = "F32", .known = f32, .shape = {64}, .data = std::as_bytes(std::span(data))};
  if (!value) {
    extra = *head;
    extra.name = tensor;
  }  // the embedding once more
  if (!tensor.empty()) all.tensors.push_back(extra);
  const std::string path = fmt::format("/tmp/assay_config_test_{}.safetensors", ::getpid());
  write_tensors(path, all);
  Json config = json_of(kFolder + family + "/config.json");
  config.update(changed);
  std::string said;
  try {
    load_model(parsed(config), path, {});
  } catch (const BadInput& e) {
    said = e.what();
  }
  std::filesystem::remove(path);
  return said;
}

TEST_CASE("model: a tensor that no step reads is refused by name, but for the buffers of older files", "[model]") {
  const std::string llama = "model.layers.1.", neox = "gpt_neox.layers.1.", gpt2 = "transformer.h.1.";
  const std::pair<std::string, std::string> unread[] = {{"llama", llama + "self_attn.sinks"},
                                                        {"llama", llama + "self_attn.q_norm.weight"},
                                                        {"llama", llama + "self_attn.k_norm.weight"},
                                                        {"llama", llama + "self_attn.q_proj.bias"},
                                                        {"llama", llama + "self_attn.o_proj.bias"},
                                                        {"llama", llama + "self_attn.k_proj.weight_scale"},
                                                        {"llama", llama + "mlp.up_proj.bias"},
                                                        {"llama", llama + "mlp.gate.weight"},
                                                        {"llama", llama + "mlp.experts.0.gate_proj.weight"},
                                                        {"llama", llama + "block_sparse_moe.gate.weight"},
                                                        {"llama", llama + "pre_feedforward_layernorm.weight"},
                                                        {"llama", "model.norm.bias"},
                                                        {"llama", "lm_head.bias"},
                                                        {"llama", "model.layers.2.self_attn.rotary_emb.inv_freq"},
                                                        {"gpt_neox", neox + "attention.sinks"},
                                                        {"gpt_neox", neox + "attention.q_norm.weight"},
                                                        {"gpt_neox", neox + "mlp.router.weight"},
                                                        {"gpt2", gpt2 + "attn.sinks"},
                                                        {"gpt2", gpt2 + "attn.q_norm.weight"},
                                                        {"gpt2", gpt2 + "crossattention.c_attn.weight"},
                                                        {"gpt2", "score.weight"}};
  for (const auto& [family, tensor] : unread)
    CHECK(has(said_of_weights(family, tensor),
              "has a tensor '" + tensor + "', and a model of its config.json has none of that name"));
  const std::pair<std::string, std::string> buffers[] = {{"llama", ""},
                                                         {"gpt_neox", ""},
                                                         {"gpt2", ""},
                                                         {"llama", llama + "self_attn.rotary_emb.inv_freq"},
                                                         {"gpt_neox", neox + "attention.rotary_emb.inv_freq"},
                                                         {"gpt_neox", neox + "attention.bias"},
                                                         {"gpt_neox", neox + "attention.masked_bias"},
                                                         {"gpt2", gpt2 + "attn.bias"},
                                                         {"gpt2", gpt2 + "attn.masked_bias"}};
  for (const auto& [family, tensor] : buffers) {
    INFO(family << ": " << tensor);
    CHECK(said_of_weights(family, tensor) == "");
  }
  CHECK(has(said_of_weights("llama", "", {{"attention_bias", true}}), "has no tensor 'model.layers.0.self_attn.q_proj.bias'"));
}

TEST_CASE("model: a head that is stored although the embedding is the head must be the embedding", "[model]") {
  CHECK(said_of_weights("llama_biased", "lm_head.weight", Json::object(), std::nullopt) == "");
  CHECK(has(said_of_weights("llama_biased", "lm_head.weight"), "'lm_head.weight' has the shape [64]"));
  CHECK(has(said_of_weights("llama", "", {{"tie_word_embeddings", true}}),
            "'lm_head.weight' is not the embedding, and by config.json ('tie_word_embeddings') it was expected to be"));
}

}  // namespace
}  // namespace assay
