// SPDX-License-Identifier: Apache-2.0
// Datasets that are wrong, one way each: every one is refused with its file and place.
#include "validate/cases/datasets.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>

#include "catch_shim.hpp"
#include "validate/base/error.hpp"
#include "validate/cases/suite.hpp"
#include "validate/tests/test_ops.hpp"

#ifndef ASSAY_DATASETS_DIR
#define ASSAY_DATASETS_DIR "datasets"
#endif

using namespace assay;
namespace fs = std::filesystem;

namespace {

// A copy of the datasets that goes with the test.
struct Copy {
  fs::path root = fs::temp_directory_path() / ("assay_datasets_" + std::to_string(::getpid()));
  Copy() {
    fs::remove_all(root);
    fs::copy(ASSAY_DATASETS_DIR, root, fs::copy_options::recursive);
    for (const auto& file : fs::directory_iterator(root / "edges"))  // the other ops' files are not for these ops
      if (file.path().stem() != "common" && file.path().stem() != "layernorm_residual") fs::remove(file);
  }
  ~Copy() {
    std::error_code ignored;
    fs::remove_all(root, ignored);
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  std::string read(const fs::path& file) const {
    std::ostringstream text;
    text << std::ifstream(root / file).rdbuf();
    return text.str();
  }
  void write(const fs::path& file, const std::string& text) const { std::ofstream(root / file) << text; }
  void replace(const fs::path& file, const std::string& from, const std::string& to) const {
    std::string text = read(file);
    REQUIRE(text.find(from) != text.npos);
    write(file, text.replace(text.find(from), from.size(), to));
  }
  // What is said about it, without the folder's name.
  std::string error() const {
    try {
      const Datasets d = load_datasets(root);
      check(d, test::ops());
      for (const OpShape& op : test::ops()) cases(d, op, "full");
    } catch (const BadInput& e) {
      std::string text = e.what();
      if (const std::string prefix = root.string() + "/"; text.starts_with(prefix)) text.erase(0, prefix.size());
      return text;
    }
    return "no error";
  }
};

struct Edit {
  const char *file, *from, *to, *sentence;
};

constexpr const char* kModel = "models/gpt2-124m.json";
constexpr const char* kEdges = "edges/layernorm_residual.json";
constexpr const char* kCommon = "edges/common.json";

const Edit kEdits[] = {
    {kModel, "\"hidden\": 768", "\"hidden\": \"768\"", "models/gpt2-124m.json: /hidden: expected a whole number."},
    {kModel, "\"hidden\": 768", "\"hidden\": 768.5", "models/gpt2-124m.json: /hidden: expected a whole number."},
    {kModel, "\"hidden\": 768", "\"hidden\": -768", "models/gpt2-124m.json: /hidden: -768 is less than 1."},
    {kModel, "\"hidden\": 768", "\"hidden\": 18446744073709551615",
     "models/gpt2-124m.json: /hidden: 18446744073709551615 is more than 2^40."},
    {kModel, "\"hidden\": 768", "\"hiden\": 768", "models/gpt2-124m.json: /: unknown key 'hiden'. Did you mean 'hidden'?"},
    {kModel, "\"hidden\": 768,", "", "models/gpt2-124m.json: /: 'hidden' is missing."},
    {kModel, "\"hidden\": 768", "\"hidden\": 768, \"hidden\": 769", "models/gpt2-124m.json: it has 'hidden' twice"},
    {kModel, "\"kv_heads\": 12", "\"kv_heads\": 5", "models/gpt2-124m.json: /kv_heads: 5 does not divide 12 heads."},
    {kModel, "\"layernorm\"", "\"layernrom\"",
     "models/gpt2-124m.json: /norm/kind: unknown norm 'layernrom'. Did you mean 'layernorm'?"},
    {kModel, "1e-05", "0", "models/gpt2-124m.json: /norm/epsilon: expected a number above zero."},
    {kModel, "1e-05", "1e-5000x", "models/gpt2-124m.json: line 10: not valid JSON (byte "},
    {kModel, "1e-05", "1e5000", "models/gpt2-124m.json: a number is out of range."},
    {kModel, "\"tokens\": [1,", "\"tokens\": [0,", "models/gpt2-124m.json: /tokens/0: 0 is less than 1."},
    {kModel, "\"gelu_tanh\"", "\"gelu_tan\"",
     "models/gpt2-124m.json: /activation: unknown activation 'gelu_tan'. Did you mean 'gelu_tanh'?"},
    {kModel, "\"epsilon\"", "\"eps\": 1, \"epsilon\"", "models/gpt2-124m.json: /norm: unknown key 'eps'. Known: kind, epsilon."},
    {kModel, "\"mlp\"", "\"mpl\"", "models/gpt2-124m.json: /biases/2: unknown product 'mpl'. Did you mean 'mlp'?"},
    {kModel, "\"dialect\": \"gpt2\"", "\"dialect\": \"gpt-2\"",
     "models/gpt2-124m.json: /dialect: unknown dialect 'gpt-2'. Did you mean 'gpt2'?"},
    {kModel, "\"dialect\": \"gpt2\"", "\"dialect\": \"gptneox\"",
     "models/gpt2-124m.json: /dialect: gptneox has rope on pairs of halves, not scaled."},
    {kModel, "\"dialect\": \"gpt2\"", "\"dialect\": \"llama\"", "models/gpt2-124m.json: /dialect: llama has an rmsnorm."},
    {kModel, "\"gelu_tanh\"", "\"swiglu\"", "models/gpt2-124m.json: /dialect: gpt2 has a gelu without a gate."},
    {kModel, "\"qkv\", ", "", "models/gpt2-124m.json: /dialect: gpt2 has a bias in every product."},
    {kModel, "\"tokens\"", "\"attention\": {\"softcap\": 50}, \"tokens\"",
     "models/gpt2-124m.json: /dialect: gpt2 has neither a window, nor a softcap, nor a query_pre_attn_scalar."},
    {kModel, "\"head_dim\": 64", "\"head_dim\": 1099511627776",
     "models/gpt2-124m.json: /head_dim: heads x head_dim is more than 2^40."},
    {"models/llama-2-7b.json", "\"swiglu\"", "\"gelu_erf\"",
     "models/llama-2-7b.json: /dialect: llama has the activation swiglu."},
    {"models/llama-2-7b.json", "\"tokens\"", "\"biases\": [\"out\"], \"tokens\"",
     "models/llama-2-7b.json: /dialect: llama has no biases."},
    {"models/llama-3.1-8b.json", "\"scaling\"", "\"factor\": 8, \"scaling\"",
     "models/llama-3.1-8b.json: /rope: unknown key 'factor'."},
    {"models/llama-3.1-8b.json", "\"llama3\"", "\"yarn\"", "models/llama-3.1-8b.json: /rope/scaling: unknown scaling 'yarn'."},
    {"models/gemma-2-9b.json", "\"softcap\": 50", "\"softcap\": 0",
     "models/gemma-2-9b.json: /attention/softcap: expected a number above zero."},
    {"models/gemma-2-9b.json", "\"window\": 4096", "\"windows\": 4096",
     "models/gemma-2-9b.json: /attention: unknown key 'windows'. Did you mean 'window'?"},
    {"models/pythia-2.8b.json", "\"rotary_dim\": 20", "\"rotary_dim\": 82",
     "models/pythia-2.8b.json: /rope/rotary_dim: more than head_dim."},
    {"models/pythia-2.8b.json", "\"smoke\": true", "\"smoke\": 1", "models/pythia-2.8b.json: /smoke: expected true or false."},
    {kEdges, "\"suites\": [\"smoke\"]", "\"suites\": [\"smoek\"]",
     "edges/layernorm_residual.json: /groups/0/suites/0: unknown suite 'smoek'. Did you mean 'smoke'?"},
    {kEdges, "\"suites\": [\"smoke\"]", "\"suites\": \"smoke\"",
     "edges/layernorm_residual.json: /groups/0/suites: expected a list."},
    {kEdges, "\"rows\": [131]", "\"rowz\": [131]",
     "edges/layernorm_residual.json: /groups/0: unknown key of layernorm_residual 'rowz'. Did you mean 'rows'?"},
    {kEdges, "\"rows\": [131]", "\"tokens\": [131]",
     "edges/layernorm_residual.json: /groups/0: unknown key of layernorm_residual 'tokens'."},
    {kEdges, "\"rows\": [131],", "", "edges/layernorm_residual.json: /groups/0: axis 'rows' of layernorm_residual is missing."},
    {kEdges, "\"rows\": [131]", "\"rows\": []", "edges/layernorm_residual.json: /groups/0/rows: the list is empty."},
    {kEdges, "\"rows\": [131]", "\"rows\": [-131]", "edges/layernorm_residual.json: /groups/0/rows/0: -131 is less than 0."},
    {kEdges, "\"rows\": [131]", "\"rows\": [131], \"own_axes\": {\"epsilon\": [1]}",
     "edges/layernorm_residual.json: /groups/0: unknown axis of layernorm_residual 'epsilon'. Known: rows, cols"},
    {kEdges, "\"cols\": [259]", "\"cols\": [0]",
     "edges/layernorm_residual.json: /groups/0: cols=0: layernorm_residual needs at least 1."},
    {kEdges, "\"all_equal\"", "\"all_eqal\"",
     "edges/layernorm_residual.json: /groups/0: unknown fill 'all_eqal'. Did you mean 'all_equal'?"},
    {kEdges, "\"offset2\"", "\"offset_2\"",
     "edges/layernorm_residual.json: /groups/5/layout/0: unknown layout 'offset_2'. Did you mean 'offset2'?"},
    {kEdges, "\"epsilon\": [0]", "\"epsilom\": [0]",
     "edges/layernorm_residual.json: /groups/1: unknown key of layernorm_residual 'epsilom'. Did you mean 'epsilon'?"},
    {kEdges, "\"epsilon\": [0]", "\"epsilon\": [\"small\"]",
     "edges/layernorm_residual.json: /groups/1: epsilon=small: not a number."},
    {kEdges, "\"dtype\": [\"f32\"]", "\"dtype\": [\"fp32\"]",
     "edges/layernorm_residual.json: /groups/33/dtype/0: unknown dtype 'fp32'. Did you mean 'f32'?"},
    {kEdges, "\"rows\": [1, 4096]", "\"rows\": [4096, 1]",
     "edges/layernorm_residual.json: /random/rows: expected [first, last]."},
    {kEdges, "\"cols\": \"hidden\"", "\"cols\": \"hiden\"",
     "edges/layernorm_residual.json: /models/cols: unknown figure of a model 'hiden'. Did you mean 'hidden'?"},
    {kEdges, "\"cols\": \"hidden\"", "\"cols\": \"norm_epsilon\"",
     "edges/layernorm_residual.json: /models/cols: 'norm_epsilon' is no extent."},
    {kEdges, "\"needs\": {\"norm\"", "\"needs\": {\"norms\"",
     "edges/layernorm_residual.json: /models/needs: unknown figure of a model 'norms'. Did you mean 'norm'?"},
    {kEdges, "[\"layernorm\"]", "[\"layer_norm\"]",
     "edges/layernorm_residual.json: /models/needs/norm/0: unknown norm 'layer_norm'. Did you mean 'layernorm'?"},
    {kEdges, ", \"why\": \"other models have an RMSNorm\"", "",
     "edges/layernorm_residual.json: /models: 'needs' and 'why', the reason for it, go together."},
    {kEdges, "\"epsilon\": \"norm_epsilon\"", "\"epsilon\": \"norm\"",
     "models/gpt-neox-20b: layernorm_residual: epsilon=layernorm: not a number."},
    {kEdges, "\"cols\": \"hidden\"", "\"cols\": \"hidden\", \"fill\": \"units\"",
     "edges/layernorm_residual.json: /models: unknown fill 'units'."},
    {kEdges, "\"cols\": \"hidden\"", "\"ffn\": \"ffn\"",
     "edges/layernorm_residual.json: /models: unknown key of layernorm_residual 'ffn'."},
    {kEdges, "\"groups\"", "\"gruops\"", "edges/layernorm_residual.json: /: unknown key 'gruops'. Did you mean 'groups'?"},
    {kCommon, "\"uniform01\"", "\"uniform\"",
     "edges/common.json: /smoke_fills/0: unknown fill 'uniform'. Did you mean 'uniform01'?"},
    {kCommon, "\"seq_q\": [67, 1, 129]", "\"seqq\": [67]",
     "edges/common.json: /axes/smoke: unknown key 'seqq'. Did you mean 'seq_q'?"},
    {kCommon, "\"smoke_tokens\": 129,", "", "edges/common.json: /: 'smoke_tokens' is missing."},
    {kCommon, "\"batch\": [1, 4], ", "", "edges/common.json: /random: 'batch' is missing."},
};

}  // namespace

TEST_CASE("datasets: an untouched copy is good") { CHECK(Copy().error() == "no error"); }

TEST_CASE("datasets: every wrong word and number is refused with its place") {
  for (const Edit& e : kEdits) {
    Copy copy;
    copy.replace(e.file, e.from, e.to);
    INFO(e.from << " -> " << e.to);
    CHECK_THAT(copy.error(), Catch::Matchers::StartsWith(e.sentence));
  }
}

TEST_CASE("datasets: a file cut short is refused wherever it is cut, with the line") {
  Copy copy;
  const std::string text = copy.read(kEdges);
  for (std::size_t n = 0; n + 2 < text.size(); n += 97) {
    copy.write(kEdges, text.substr(0, n));
    CHECK_THAT(copy.error(), Catch::Matchers::StartsWith("edges/layernorm_residual.json: line "));
  }
}

TEST_CASE("datasets: values of the wrong type at the top are refused") {
  Copy copy;
  for (const char* text : {"[]", "3", "null", "\"x\"", "{\"groups\": {}}", "{\"groups\": [3]}", "{\"groups\": [null]}"})
    for (const char* file : {kEdges, kCommon, kModel}) {
      const std::string good = copy.read(file);
      copy.write(file, text);
      CHECK_THAT(copy.error(), Catch::Matchers::StartsWith(std::string(file) + ": "));
      copy.write(file, good);
    }
}

TEST_CASE("datasets: files and folders that are not there") {
  Copy copy;
  copy.write("edges/layernorm_residul.json", "{}");
  CHECK(copy.error() == "edges/layernorm_residul.json: /: unknown op 'layernorm_residul'. Did you mean 'layernorm_residual'?");
  fs::remove(copy.root / "edges/layernorm_residul.json");
  fs::remove(copy.root / "edges/layernorm_residual.json");
  CHECK(copy.error() == "no error");  // an op needs no file of its own
  fs::remove(copy.root / "edges/common.json");
  CHECK(copy.error() == "edges/common.json: is missing.");
  fs::remove_all(copy.root / "models");
  CHECK(copy.error() == "models: not a folder of datasets.");
}

TEST_CASE("datasets: extents that are too many together are laid at the model's door") {
  Copy copy;
  copy.replace(kModel, "\"hidden\": 768", "\"hidden\": 1099511627776");
  CHECK(copy.error() == "models/gpt2-124m: layernorm_residual: the axes together have more than 2^46 elements.");
}

TEST_CASE("datasets: too many combinations are refused before they are made") {
  Copy copy;
  std::string many = "1";
  for (int i = 2; i <= 400; ++i) many += "," + std::to_string(i);
  copy.write(kEdges, "{\"groups\": [{\"suites\": [\"edges\"], \"rows\": [" + many + "], \"cols\": [" + many + "]}]}");
  CHECK(copy.error() == "edges/layernorm_residual.json: /groups/0: 160000 cases are more than 100000.");
}
