// SPDX-License-Identifier: Apache-2.0
#include "validate/model/config/fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/cases/float_value.hpp"

namespace assay {

namespace {

using Json = nlohmann::json;
using Kind = ConfigField::Kind;
using Family = reference::Decoder::Family;

constexpr std::size_t kMostName = 200;  // of a field that is told
constexpr double kMostExtent = 1 << 24, kMostLayers = 4096, kMostFactor = 1 << 20, kMostBase = 0x1p60;

ConfigField count(std::string_view name, double most = kMostExtent) {
  return {.name = name, .kind = Kind::count, .least = 1, .most = most};
}
ConfigField number(std::string_view name, double least, double most) {
  return {.name = name, .kind = Kind::number, .least = least, .most = most};
}
ConfigField flag(std::string_view name) { return {.name = name, .kind = Kind::flag}; }
ConfigField only(std::string_view name, std::vector<Json> values) {
  return {.name = name, .kind = Kind::only, .values = std::move(values)};
}
ConfigField or_null(ConfigField f) {
  f.or_null = true;
  return f;
}
ConfigField of_types(std::vector<std::string_view> types, ConfigField f) {
  f.types = std::move(types);
  return f;
}

// What scales rope's frequencies; `share` is the field for the share of the channels that rotate.
ConfigField rope(std::string_view name, const ConfigField& share) {
  const std::vector<Json> types{"default", "linear", "llama3"};
  return {.name = name,
          .kind = Kind::rope,
          .or_null = true,
          .inside = {only("rope_type", types), only("type", types), number("rope_theta", 1, kMostBase), share,
                     of_types({"linear", "llama3"}, number("factor", 1, kMostFactor)),
                     of_types({"llama3"}, number("low_freq_factor", 0, kMostFactor)),
                     of_types({"llama3"}, number("high_freq_factor", 0, kMostFactor)),
                     of_types({"llama3"}, count("original_max_position_embeddings"))}};
}

// The fields of every family.
const ConfigTable& common() {
  static const ConfigTable all{
      // used
      {.name = "model_type", .kind = Kind::word},
      count("vocab_size"),
      flag("tie_word_embeddings"),
      // harmless at these values
      only("torch_dtype", {"float16", "bfloat16", "float32", nullptr}),
      only("dtype", {"float16", "bfloat16", "float32", nullptr}),
      only("quantization_config", {nullptr}),
      only("sliding_window", {nullptr}),
      only("use_sliding_window", {false}),
      only("attn_logit_softcapping", {nullptr}),
      only("final_logit_softcapping", {nullptr}),
      only("is_encoder_decoder", {false}),
      only("add_cross_attention", {false}),
      only("cross_attention_hidden_size", {nullptr}),
      only("tie_encoder_decoder", {false}),
      only("chunk_size_feed_forward", {0}),
      only("pruned_heads", {Json::object(), nullptr}),
      only("use_bfloat16", {false}),
  };
  return all;
}
// Harmless in every family: who wrote the file, tokens, training, other tasks, what is returned, and how tokens are drawn.
const Names& harmless() {
  static const Names all{
      "_name_or_path", "_commit_hash", "transformers_version", "transformers.js_config", "unsloth_fixed", "unsloth_version",
      "_attn_implementation", "_attn_implementation_autoset", "attn_implementation", "use_cache", "torchscript",
      //
      "bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id", "decoder_start_token_id", "tokenizer_class", "prefix",
      //
      "initializer_range", "gradient_checkpointing", "classifier_dropout", "tf_legacy_loss",
      //
      "finetuning_task", "task_specific_params", "problem_type", "id2label", "label2id", "num_labels", "_num_labels",
      //
      "is_decoder", "return_dict", "output_hidden_states", "output_attentions", "output_scores", "return_dict_in_generate",
      //
      "max_length", "min_length", "do_sample", "early_stopping", "num_beams", "num_beam_groups", "diversity_penalty",
      "temperature", "top_k", "top_p", "typical_p", "repetition_penalty", "length_penalty", "no_repeat_ngram_size",
      "encoder_no_repeat_ngram_size", "bad_words_ids", "num_return_sequences", "forced_bos_token_id", "forced_eos_token_id",
      "remove_invalid_values", "exponential_decay_length_penalty", "suppress_tokens", "begin_suppress_tokens"};
  return all;
}

// A family's table: the common fields, its own, and its own that are harmless.
ConfigTable with_common(const ConfigTable& own, const Names& own_harmless) {
  ConfigTable all = common();
  all.insert(all.end(), own.begin(), own.end());
  for (const Names& names : {harmless(), own_harmless})
    for (const std::string_view name : names) all.push_back({.name = name});
  return all;
}

const std::vector<Json> kGelus{"gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh"};

ConfigTable gpt2_fields() {
  return with_common(
      {
          // used
          count("n_embd"),
          count("n_head"),
          count("n_layer", kMostLayers),
          count("n_positions"),
          or_null(count("n_inner")),
          number("layer_norm_epsilon", 0, 1),
          only("activation_function", kGelus),
          // harmless at these values
          only("architectures", {Json::array({"GPT2LMHeadModel"})}),
          only("scale_attn_weights", {true}),
          only("scale_attn_by_inverse_layer_idx", {false}),
          only("reorder_and_upcast_attn", {false}),
          only("n_special", {0}),
      },
      {"n_ctx", "attn_pdrop", "embd_pdrop", "resid_pdrop", "summary_activation", "summary_first_dropout",
       "summary_proj_to_labels", "summary_type", "summary_use_proj", "predict_special_tokens"});
}

ConfigTable gptneox_fields() {
  return with_common(
      {
          // used
          count("hidden_size"),
          count("intermediate_size"),
          count("num_attention_heads"),
          count("num_hidden_layers", kMostLayers),
          count("max_position_embeddings"),
          number("layer_norm_eps", 0, 1),
          only("hidden_act", kGelus),
          flag("use_parallel_residual"),
          number("rotary_pct", 0, 1),
          number("partial_rotary_factor", 0, 1),
          number("rotary_emb_base", 1, kMostBase),
          number("rope_theta", 1, kMostBase),
          rope("rope_scaling", number("partial_rotary_factor", 0, 1)),
          rope("rope_parameters", number("partial_rotary_factor", 0, 1)),
          // harmless at these values
          only("architectures", {Json::array({"GPTNeoXForCausalLM"})}),
          only("attention_bias", {true}),
      },
      {"attention_dropout", "hidden_dropout", "attention_probs_dropout_prob", "hidden_dropout_prob"});
}

ConfigTable llama_fields() {
  return with_common(
      {
          // used
          count("hidden_size"),
          count("intermediate_size"),
          count("num_attention_heads"),
          or_null(count("num_key_value_heads")),
          or_null(count("head_dim")),
          count("num_hidden_layers", kMostLayers),
          count("max_position_embeddings"),
          number("rms_norm_eps", 0, 1),
          number("rope_theta", 1, kMostBase),
          rope("rope_scaling", only("partial_rotary_factor", {1})),
          rope("rope_parameters", only("partial_rotary_factor", {1})),
          flag("attention_bias"),
          // harmless at these values
          only("architectures", {Json::array({"LlamaForCausalLM"})}),
          only("hidden_act", {"silu", "swish"}),
          only("mlp_bias", {false}),
          only("partial_rotary_factor", {1}),
          only("pretraining_tp", {1}),
          only("rope_interleaved", {false}),
          only("is_llama_config", {true}),
      },
      {"attention_dropout"});
}

// Families of others whose names lie a letter away from one of ours.
const Names kNotMistyped{"gpt_neo", "gptj", "llama4", "llava", "mllama"};

std::string text(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 60); }

const ConfigField* find(const ConfigTable& table, std::string_view name) {
  const auto at = std::find_if(table.begin(), table.end(), [&](const ConfigField& f) { return f.name == name; });
  return at == table.end() ? nullptr : &*at;
}

[[noreturn]] void refuse_in(const std::string& path, std::string_view what) {
  throw BadInput(fmt::format("'{}': {}", path, plain(what)));
}

// Goes through a config.json, and takes out what asks for something that is not computed here.
struct Check {
  struct Refused {
    std::string name, value;
    std::string said;  // name and value, and what is computed
  };
  const std::string& path;
  std::vector<Refused> refused{};
  std::vector<std::string> accepted{};  // names of the others

  void object(Json& json, const ConfigTable& table, const std::string& inside, std::string_view type) {
    Json kept = Json::object();
    for (auto& [key, value] : json.items()) {
      const std::string name = inside + key;
      const ConfigField* const f = find(table, key);
      const bool known = f && (f->types.empty() || std::find(f->types.begin(), f->types.end(), type) != f->types.end());
      if (!known || (f->kind == Kind::only && !f->fits(value))) {
        const std::string said =
            fmt::format("'{}' is {}{}", name.substr(0, kMostName), text(value), known ? " instead of " + f->expected() : "");
        refused.push_back({name, text(value), said});
        continue;
      }
      if (!f->fits(value)) refuse_in(path, fmt::format("'{}' is {}, and {} was expected", name, text(value), f->expected()));
      if (f->kind == Kind::rope && !value.is_null()) object(value, f->inside, name + ".", rope_type(value, name));
      accepted.push_back(name);
      kept[key] = value;
    }
    json = std::move(kept);
  }
  // The type by which the other fields of rope are known.  One that is not computed counts as none.
  std::string rope_type(const Json& in, const std::string& name) const {
    const bool newer = in.contains("rope_type"), older = in.contains("type");
    if (!newer && !older) refuse_in(path, fmt::format("'{}.rope_type' is missing, and a text was expected", name));
    if (newer && older && in["rope_type"] != in["type"])
      refuse_in(path, fmt::format("'{0}.rope_type' and '{0}.type' differ, and one of them was expected", name));
    const Json& type = in[newer ? "rope_type" : "type"];
    return type.is_string() && type != "default" ? type.get<std::string>() : std::string();
  }
};

// One sentence about all fields that ask for what is not computed here.
std::string sentence(const std::vector<Check::Refused>& refused) {
  constexpr std::size_t kMostTold = 8;
  if (refused.size() == 1)
    return fmt::format("{}, and that is not computed here  (--ignore-field {} computes as if it were not there)", refused[0].said,
                       refused[0].name.substr(0, kMostName));
  std::vector<std::string_view> said;
  for (const Check::Refused& r : refused)
    if (said.size() < kMostTold) said.push_back(r.said);
  const std::string more = refused.size() > kMostTold ? fmt::format(", and {} more fields", refused.size() - kMostTold) : "";
  return fmt::format(
      "{}{}, and that is not computed here  (--ignore-field NAME for each of them computes as if it were not there)",
      fmt::join(said, ", "), more);
}

}  // namespace

bool ConfigField::fits(const Json& value) const {
  if (or_null && value.is_null()) return true;
  switch (kind) {
    case Kind::count:
    case Kind::number:
      if (value.is_number() && !no_float(value.get<double>()).empty()) return false;
      return (kind == Kind::count ? value.is_number_integer() : value.is_number()) && value.get<double>() >= least &&
             value.get<double>() <= most;
    case Kind::flag: return value.is_boolean();
    case Kind::word: return value.is_string();
    case Kind::rope: return value.is_object();
    case Kind::only: return std::find(values.begin(), values.end(), value) != values.end();
    case Kind::harmless: return true;
  }
  return false;
}

std::string ConfigField::expected() const {
  switch (kind) {
    case Kind::count: return fmt::format("a whole number from 1 to {}", static_cast<std::int64_t>(most));
    case Kind::number: return fmt::format("a number from {} to {}", least, most);
    case Kind::flag: return "true or false";
    case Kind::word: return "a text";
    case Kind::rope: return "an object";
    case Kind::only: {
      std::vector<std::string> texts;
      for (const Json& v : values) texts.push_back(text(v));
      return fmt::format("{}", fmt::join(texts, " or "));
    }
    case Kind::harmless: return "anything";
  }
  return "";
}

const std::vector<ConfigFamily>& config_families() {
  static const std::vector<ConfigFamily> all{{"gpt2", Family::gpt2, gpt2_fields()},
                                             {"gpt_neox", Family::gptneox, gptneox_fields()},
                                             {"llama", Family::llama, llama_fields()}};
  return all;
}

const ConfigFamily& config_family(const Json& config, const std::string& path) {
  const Json model_type = config.contains("model_type") ? config["model_type"] : Json();
  if (!model_type.is_string())
    refuse_in(path, fmt::format("'model_type' is {}, and a text was expected",
                                config.contains("model_type") ? text(model_type) : "missing"));
  const auto& type = model_type.get_ref<const std::string&>();
  Names names;
  for (const ConfigFamily& f : config_families()) {
    if (f.name == type) return f;
    names.push_back(f.name);
  }
  const std::string word = type.substr(0, 60);
  const bool of_others = std::find(kNotMistyped.begin(), kNotMistyped.end(), word) != kNotMistyped.end();
  for (const std::string_view name : names)
    if (!of_others && 4 * edit_distance(word, name) <= std::max(word.size(), name.size()))
      refuse_in(path, fmt::format("'model_type': unknown family '{}'. Did you mean '{}'?", word, name));
  refuse_in(path, fmt::format("'model_type': unknown family '{}'. Known: {}.", word, fmt::join(names, ", ")));
}

IgnoredFields check_fields(Json& config, const ConfigTable& table, const std::string& path,
                           const std::vector<std::string>& ignore) {
  Check check{.path = path};
  check.object(config, table, "", "");
  const auto is_ignored = [&](const Check::Refused& r) {
    return std::find(ignore.begin(), ignore.end(), r.name) != ignore.end();
  };
  IgnoredFields ignored;
  for (const Check::Refused& r : check.refused)
    if (is_ignored(r)) ignored.emplace_back(plain(r.name), plain(r.value));
  std::erase_if(check.refused, is_ignored);
  if (!check.refused.empty()) refuse_in(path, sentence(check.refused));
  for (const std::string& name : ignore) {
    if (std::any_of(ignored.begin(), ignored.end(), [&](const auto& i) { return i.first == plain(name); })) continue;
    const bool there = std::find(check.accepted.begin(), check.accepted.end(), name) != check.accepted.end();
    throw BadInput(fmt::format("--ignore-field {}: {}", plain(name.substr(0, kMostName)),
                               there ? fmt::format("that field of '{}' is not refused, so there is nothing to ignore", path)
                                     : fmt::format("'{}' has no such field", path)));
  }
  return ignored;
}

void ConfigReader::refuse(std::string_view what) const { refuse_in(path_, what); }
std::string ConfigReader::told(std::string_view name) const {
  return inside_.empty() ? std::string(name) : fmt::format("{}.{}", inside_, name);
}
bool ConfigReader::has(const char* name) const {
  field(name);
  return object_.contains(name) && !object_[name].is_null();
}
const ConfigField& ConfigReader::field(const char* name) const {
  if (const ConfigField* f = find(table_, name)) return *f;
  throw std::logic_error(fmt::format("'{}' is read, and its family's table has no such field", told(name)));
}
const Json* ConfigReader::value(const char* name, bool may_lack) const {
  if (has(name)) return &object_[name];
  if (!may_lack) refuse(fmt::format("'{}' is missing, and {} was expected", told(name), field(name).expected()));
  return nullptr;
}
std::int64_t ConfigReader::count(const char* name, std::optional<std::int64_t> otherwise) const {
  const Json* const v = value(name, otherwise.has_value());
  return v ? v->get<std::int64_t>() : *otherwise;
}
double ConfigReader::number(const char* name, std::optional<double> otherwise) const {
  const Json* const v = value(name, otherwise.has_value());
  return v ? v->get<double>() : *otherwise;
}
bool ConfigReader::flag(const char* name, bool otherwise) const {
  const Json* const v = value(name, true);
  return v ? v->get<bool>() : otherwise;
}
std::string ConfigReader::word(const char* name, const std::string& otherwise) const {
  const Json* const v = value(name, true);
  return v ? v->get<std::string>() : otherwise;
}
std::optional<ConfigReader> ConfigReader::of(const char* name) const {
  const Json* const v = value(name, true);
  return v ? std::optional<ConfigReader>(std::in_place, *v, field(name).inside, path_, told(name)) : std::nullopt;
}

}  // namespace assay
