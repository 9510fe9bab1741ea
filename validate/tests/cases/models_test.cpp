// SPDX-License-Identifier: Apache-2.0
// What the suite `models` makes of the files of models: every field counts, and each model gets its own mathematics.
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "catch_shim.hpp"
#include "validate/base/error.hpp"
#include "validate/cases/suite.hpp"
#include "validate/problem/op.hpp"

#ifndef ASSAY_DATASETS_DIR
#define ASSAY_DATASETS_DIR "datasets"
#endif

using namespace assay;

namespace {

using ModelFile = nlohmann::json;
using Lines = std::map<std::string, std::vector<std::string>>;  // the cases of each op

const Datasets& all_files() {
  static const Datasets d = load_datasets(ASSAY_DATASETS_DIR);
  return d;
}

Lines lines_of(const Model& m, bool reduce = false) {
  static Datasets d = all_files();
  d.models = {m};
  Lines lines;
  for (const Op& op : ops()) {
    const OpShape shape = op.shape();
    for (const Case& c : cases(d, shape, "models", {.dtypes = {f32}, .reduce = reduce})) {
      const std::string line = repro(c, shape);
      lines[std::string(op.name)].push_back(line.substr(0, line.find(" seed=")));
    }
  }
  return lines;
}
Lines lines_of_file(const ModelFile& file) { return lines_of(parse_model(file.dump(), "changed", "changed.json")); }
Lines lines_of_model(std::string_view stem, bool reduce = false) {
  for (const Model& m : all_files().models)
    if (m.stem == stem) return lines_of(m, reduce);
  return {};
}

// The file with another legal value in one field.
ModelFile changed(ModelFile file, const std::string& field) {
  ModelFile& value = file.at(ModelFile::json_pointer(field));
  if (field == "/dialect") file.erase("dialect");
  else if (field == "/rope/scaling") file["rope"].erase("scaling");
  else if (field.starts_with("/biases/") && file["biases"].size() == 1) file.erase("biases");
  else if (field.starts_with("/biases/")) file["biases"].erase(std::stoul(field.substr(8)));
  else if (field == "/rope/pairs") value = value == "half" ? "interleaved" : "half";
  else if (field == "/norm/kind") value = value == "rmsnorm" ? "layernorm" : "rmsnorm";
  else if (field == "/activation") value = value == "gelu_erf" ? "gelu_tanh" : "gelu_erf";
  else if (field == "/kv_heads") value = 1;
  else if (field == "/rope/rotary_dim") value = 2;
  else if (value.is_number_integer()) value = 2 * value.get<std::int64_t>();
  else value = 2 * value.get<double>();
  return file;
}

bool any_has(const std::vector<std::string>& lines, std::string_view words) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) { return line.find(words) != line.npos; });
}

}  // namespace

TEST_CASE("models: each field of each file changes a case") {
  for (const Model& m : all_files().models) {
    const ModelFile file = ModelFile::parse(std::ifstream(std::string(ASSAY_DATASETS_DIR) + "/models/" + m.stem + ".json"));
    ModelFile without_dialect = file;
    without_dialect.erase("dialect");  // else it would refuse most changes
    const Lines with = lines_of_file(file), without = lines_of_file(without_dialect);
    const ModelFile fields = file.flatten();
    for (const auto& [field, value] : fields.items()) {
      if (field == "/name" || field == "/source" || field == "/note" || field == "/smoke" || field.starts_with("/tokens/"))
        continue;
      INFO(m.stem << " " << field);
      if (field == "/dialect") CHECK(lines_of_file(changed(file, field)) != with);
      else CHECK(lines_of_file(changed(without_dialect, field)) != without);
    }
  }
}

TEST_CASE("models: every op computes some model, each with the model's own settings") {
  std::map<std::string, int> of_op;
  for (const Model& m : all_files().models)
    for (const auto& [op, lines] : lines_of(m)) of_op[op] += static_cast<int>(lines.size());
  CHECK(of_op.size() == ops().size());

  constexpr struct {
    const char *model, *op, *words;
  } kSays[] = {
      {"gpt2-124m", "transformer_layer", " ffn=3072 dialect=gpt2 fill=unit"},
      {"pythia-2.8b", "transformer_layer", " dialect=gptneox rotary_dim=20 "},
      {"gpt-neox-20b", "transformer_layer", " dialect=gptneox gelu=tanh rotary_dim=24 "},
      {"llama-2-7b", "transformer_layer", " ffn=11008 rotary_dim=128 "},
      {"mistral-7b", "transformer_layer", " base=1e+06 rotary_dim=128 "},
      {"mistral-7b", "rope", " rotary_dim=128 base=1e+06 offset=4091"},
      {"pythia-2.8b", "rope", " rotary_dim=20 offset=4091"},
      {"pythia-2.8b", "gelu", " cols=10240 form=erf"},
      {"pythia-2.8b", "ffn_gelu", " bias=yes form=erf"},
      {"gpt-neox-20b", "gelu_linear", " out=24576 bias=yes"},
      {"gemma-2-9b", "gelu_linear", " hidden=3584 out=14336"},
      {"gemma-2-9b", "linear", " hidden=4096 out=3584"},
      {"gemma-2-9b", "rmsnorm_gemm", " hidden=3584 out=4096 epsilon=1e-06"},
      {"gemma-2-9b", "attention_forward", " mask=causal scale=0.0625 window=4096 softcap=50"},
      {"gemma-2-9b", "attention_forward", " softcap=50 rope=half rotary_dim=256"},
      {"qwen2.5-7b", "attention_forward", " mask=causal rope=half rotary_dim=128 rope_base=1e+06"},
      {"gpt2-124m", "layernorm_linear", " out=768 bias=yes"},
      {"llama-3.1-8b", "attention_backward", " mask=causal"},
      {"llama-3.1-8b", "rope", " frequencies=given rotary_dim=128 base=5e+05 offset=4091"},
      {"llama-3.1-8b", "attention_scores", " mask=causal"},
  };
  for (const auto& [model, op, words] : kSays) {
    INFO(model << " " << op << words);
    CHECK(any_has(lines_of_model(model)[op], words));
  }
}

TEST_CASE("models: a model is left out of the ops that do not compute what it does") {
  const std::map<std::string, std::vector<std::string>> without{
      {"gpt2-124m", {"rope", "rmsnorm", "residual_rmsnorm", "rmsnorm_gemm", "silu_mul", "gemm_swiglu"}},
      {"llama-2-7b", {"gelu", "gelu_linear", "ffn_gelu", "layernorm", "layernorm_residual", "residual_layernorm"}},
      {"llama-3.1-8b", {"transformer_layer"}},
      {"qwen2.5-7b", {"rmsnorm_gemm", "transformer_layer"}},
      {"qwen3-8b", {"transformer_layer"}},
      {"gemma-2-9b",
       {"attention_backward", "attention_scores", "paged_attention", "ffn_gelu", "gemm_swiglu", "transformer_layer"}}};
  for (const auto& [model, names] : without) {
    Lines lines = lines_of_model(model);
    for (const std::string& op : names) {
      INFO(model << " " << op);
      CHECK(lines[op].empty());
    }
    CHECK_FALSE(lines["attention_forward"].empty());
  }
  CHECK_FALSE(any_has(lines_of_model("llama-3.1-8b")["attention_forward"], " rope="));
  CHECK_FALSE(any_has(lines_of_model("gpt2-124m")["attention_forward"], " rope="));
}

TEST_CASE("models: a window is shortened with its tokens and still hides some") {
  const std::vector<std::string> whole = lines_of_model("gemma-2-9b")["attention_forward"],
                                 reduced = lines_of_model("gemma-2-9b", true)["attention_forward"];
  CHECK(any_has(whole, " seq_k=4352 "));
  CHECK(any_has(whole, " window=4096 "));
  CHECK(any_has(reduced, " seq_k=129 heads=2 kv_heads=1 head_dim=256 mask=causal scale=0.0625 window=121 softcap=50"));
}
