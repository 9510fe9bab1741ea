// SPDX-License-Identifier: Apache-2.0
// Models: loading, the golden decoder against logits of Hugging Face, kernels against the golden, the pages of the cache.
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "catch_shim.hpp"
#include "model/fixture.hpp"
#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/model/machine/kernel_machine.hpp"
#include "validate/model/sample.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;
std::string refusal(const std::string& folder, std::optional<DType> dtype = {}) {
  try {
    loaded(folder, dtype);
  } catch (const BadInput& e) {
    return e.what();
  }
  return "";
}

// A folder of a family's files, to be changed.
struct Copy {
  explicit Copy(const std::string& family) : path("/tmp/assay_model_" + std::to_string(::getpid())) {
    fs::remove_all(path);
    fs::copy(kFolder + family, path);
  }
  ~Copy() { fs::remove_all(path); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  void set(const std::string& field, const Json& value) const {
    Json config = json_of(path + "/config.json");
    config[field] = value;
    std::ofstream(path + "/config.json") << config;
  }
  // Replaces a text of the weights' header by one of the same length.
  void replace(const std::string& file, const std::string& from, const std::string& to) const {
    std::string why, all = read_file(path + "/" + file, why).value();
    const auto at = all.find(from);
    REQUIRE(at != all.npos);
    REQUIRE(from.size() == to.size());
    std::ofstream(path + "/" + file, std::ios::binary) << all.replace(at, from.size(), to);
  }
  const std::string path;
};

const Texts kTexts{.tokens = {{3, 1, 4, 1, 5, 9, 2, 6, 5, 3}, {2, 7, 1, 8, 2, 8, 1}}, .decoded = 3};

TEST_CASE("model: the golden decoder gives the logits of Hugging Face's implementations", "[model]") {
  for (const std::string family : kFamilies) {
    INFO(family);
    const Json expected = json_of(kFolder + family + "/logits.json");
    const auto ids = expected["ids"].get<std::vector<std::int32_t>>();
    const auto right = expected["logits"].get<std::vector<double>>();
    const LoadedModel model = loaded(kFolder + family);
    const std::vector<double> all = reference::logits(model.decoder, ids);
    REQUIRE(all.size() == ids.size() * right.size());
    for (std::size_t v = 0; v < right.size(); ++v) CHECK(all[all.size() - right.size() + v] == Approx(right[v]).margin(2e-5));
  }
}

TEST_CASE("model: naive and preferred kernels, fused and step by step, meet every contract and the golden's logits", "[model]") {
  for (const std::string family : kFamilies)
    for (const Ops ops : {Ops::fused, Ops::steps, Ops::joined})
      for (const bool naive : {true, false}) {
        if (naive && ops == Ops::joined) continue;
        INFO(family << (naive ? " naive" : " preferred"));
        const ModelCheck c =
            Fixed(family, ops, naive ? std::vector<std::string>{"naive"} : std::vector<std::string>{}).check(kTexts);
        CHECK(c.right());
        CHECK(c.stopped == "");
        CHECK(c.steps ==
              4 * static_cast<std::int64_t>(plan(loaded(kFolder + family).decoder, {.batch = 1, .seq = 1}, ops).size()));
        CHECK(c.positions == 17);
        CHECK(c.logit_margin > 0);
      }
}

TEST_CASE("model: a kernel that errs is found in its layer, and not where its error goes on", "[model]") {
  const ModelCheck c = Fixed("llama", Ops::fused, {"naive", "rope/turned_backwards@1"}).check(kTexts);
  CHECK_FALSE(c.right());
  CHECK_FALSE(c.logits_right());
  REQUIRE(!c.wrong.empty());
  CHECK(c.wrong.front().layer == 1);
  CHECK(c.wrong.front().pass == "prefill");
  CHECK(c.wrong.front().tensor == "q");
  for (const WrongStep& w : c.wrong) CHECK(w.kernel == "rope/turned_backwards");
  CHECK(c.drift[1] > 1000 * c.drift[0]);
}

TEST_CASE("model: a step that writes over its input, and one that the machine stops, are told", "[model]") {
  const ModelCheck written = Fixed("llama", Ops::fused, {"naive", "add/input_overwritten"}).check(kTexts);
  REQUIRE(!written.wrong.empty());
  CHECK(has(written.wrong.front().side_effect, "changed its input"));
  const Texts longer{.tokens = std::vector(5, std::vector<std::int32_t>(60, 7)), .decoded = 0};  // the fault needs 4096 outputs
  const ModelCheck stopped = Fixed("llama", Ops::fused, {"naive", "linear/default_stream"}).check(longer);
  CHECK(has(stopped.stopped, "linear/default_stream, 'attn' of layer 0: "));
  CHECK_FALSE(stopped.right());
}

TEST_CASE("model: what is wrong with a config.json is told in a sentence", "[model]") {
  const auto says = [](const char* family, const char* field, const Json& value) {
    const Copy copy(family);
    copy.set(field, value);
    return refusal(copy.path);
  };
  CHECK(has(says("llama", "model_type", "lama"), "unknown family 'lama'. Did you mean 'llama'?"));
  CHECK(has(says("llama", "hidden_size", "16"), "'hidden_size' is \"16\", and a whole number from 1 to 16777216"));
  CHECK(has(says("llama", "hidden_size", nullptr), "'hidden_size' is null, and a whole number"));
  CHECK(has(says("llama", "num_key_value_heads", 3), "a multiple of the 3 key/value heads was expected"));
  CHECK(has(says("llama", "num_hidden_layers", 5000), "'num_hidden_layers' is 5000, and a whole number from 1 to 4096"));
  CHECK(says("llama", "rope_parameters", Json{{"rope_type", "default"}, {"rope_theta", 1e4}}) == "");
  CHECK(parse_config(R"({"model_type":"llama","hidden_size":8,"num_attention_heads":2,"num_hidden_layers":1,"vocab_size":9,
                         "intermediate_size":4,"rope_parameters":{"rope_type":"default","rope_theta":5e5}})",
                     "")
            .decoder.rope_base == 5e5);
  CHECK(has(says("llama", "hidden_act", "gelu"), "'hidden_act' is \"gelu\" instead of \"silu\""));
  CHECK(has(says("gpt2", "activation_function", "relu"), "'activation_function' is \"relu\" instead of \"gelu\""));
  CHECK(has(says("gpt_neox", "rotary_pct", 0.01), "0 of the 16 channels of a head rotate"));
  CHECK(has(refusal("/nowhere"), "'/nowhere/config.json' cannot be read"));
  const Copy copy("llama");
  std::ofstream(copy.path + "/config.json") << "[1]";
  CHECK(has(refusal(copy.path), "it is no JSON object"));
}

TEST_CASE("model: what is wrong with weights is told in a sentence that names file and tensor", "[model]") {
  const std::string file = "model.safetensors";
  {
    const Copy copy("llama");
    copy.set("intermediate_size", 25);
    CHECK(has(refusal(copy.path), file + "': 'model.layers.0.mlp.gate_proj.weight' has the shape [24, 16], and "
                                         "by config.json [25, 16] was expected"));
    copy.set("intermediate_size", 24);
    copy.set("num_hidden_layers", 3);
    CHECK(has(refusal(copy.path), "has no tensor 'model.layers.2.input_layernorm.weight'"));
    copy.set("num_hidden_layers", 1);
    CHECK(has(refusal(copy.path), "has a tensor 'model.layers.1.input_layernorm.weight', and a model of its"));
    copy.set("num_hidden_layers", 2);
    copy.replace(file, "\"F32\"", "\"I32\"");
    CHECK(has(refusal(copy.path), "is in I32, and F16, BF16 or F32 was expected"));
    fs::resize_file(copy.path + "/" + file, 9000);
    CHECK(has(refusal(copy.path), "cannot be read as tensors"));
    fs::remove(copy.path + "/" + file);
    CHECK(has(refusal(copy.path), file + "' cannot be read as tensors: No such file"));
  }
  const Copy sharded("gpt2");
  CHECK(refusal(sharded.path) == "");
  const std::string index = sharded.path + "/model.safetensors.index.json";
  const Json right = json_of(index);
  const auto says = [&](const char* tensor, const Json& value) {
    Json changed = right;
    if (value.is_null()) changed["weight_map"].erase(tensor);
    else changed["weight_map"][tensor] = value;
    std::ofstream(index) << changed;
    return refusal(sharded.path);
  };
  CHECK(has(says("transformer.wte.weight", "model-00003-of-00003.safetensors"), "does not place there"));
  CHECK(has(says("transformer.wte.weight", nullptr), "does not place there"));
  CHECK(has(says("transformer.extra", "model-00003-of-00003.safetensors"), "has no tensor 'transformer.extra'"));
  CHECK(has(says("transformer.wte.weight", "../x.safetensors"), "the name of a file beside the index"));
  CHECK(has(says("transformer.wte.weight", "gone.safetensors"), "gone.safetensors' cannot be read as tensors"));
  std::ofstream(index) << "{}";
  CHECK(has(refusal(sharded.path), "it has no object 'weight_map'"));
}

TEST_CASE("model: weights convert to any dtype that can hold them", "[model]") {
  const LoadedModel as_f32 = loaded(kFolder + "gpt_neox", f32), as_bf16 = loaded(kFolder + "gpt_neox");
  REQUIRE(as_bf16.dtype == bf16);
  const Tensor &a = as_f32.decoder.layers[1].wk, &b = as_bf16.decoder.layers[1].wk;
  for (std::int64_t i = 0; i < a.size(); ++i) REQUIRE(a.at(i) == b.at(i));
  const Copy copy("llama");
  const float large = 1e6f;
  std::fstream file(copy.path + "/model.safetensors", std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(-4, std::ios::end).write(reinterpret_cast<const char*>(&large), 4);
  file.close();
  CHECK(refusal(copy.path, bf16) == "");
  CHECK(has(refusal(copy.path, f16), "' holds 1000000, which f16 cannot hold"));
}

// Greedy tokens of prompts as one batch, and all logits on the way, by prompt.
struct Generated {
  std::vector<std::vector<std::int32_t>> tokens;
  std::vector<std::vector<double>> logits;
};
Generated generated(Fixed& f, std::vector<std::vector<std::int32_t>> prompts, std::int64_t page_size, int count) {
  KernelMachine machine(*f.backend, f.choice);
  Engine engine(f.model, machine, {.ops = f.options.ops, .pages = 700, .page_size = page_size});
  Generated g{.tokens = std::move(prompts), .logits = {}};
  g.logits.resize(g.tokens.size());
  std::vector<std::int64_t> ids;
  for (std::size_t b = 0; b < g.tokens.size(); ++b) ids.push_back(engine.open());
  for (int k = 0; k < count; ++k) {
    std::vector<NewTokens> news;
    for (std::size_t b = 0; b < ids.size(); ++b)
      news.push_back({ids[b], std::span(g.tokens[b]).subspan(static_cast<std::size_t>(engine.length(ids[b])))});
    const auto logits = engine.feed(news, false);
    for (std::size_t b = 0; b < ids.size(); ++b) {
      g.tokens[b].push_back(greedy(logits[b]));
      g.logits[b].insert(g.logits[b].end(), logits[b].begin(), logits[b].end());
    }
  }
  for (const std::int64_t id : ids) engine.close(id);
  CHECK(engine.pages().free() == 700);
  return g;
}

TEST_CASE("model: no bit of a sequence's logits depends on the others in a batch of up to 64, nor on the size of a page",
          "[model]") {
  for (const char* attention : {"paged_attention/naive", "paged_attention/batch_invariant"}) {
    Fixed f("llama", Ops::fused, {"naive", attention});
    std::vector<std::vector<std::int32_t>> prompts(64);
    for (std::size_t b = 0; b < prompts.size(); ++b)
      for (std::size_t i = 0; i <= b * 5 % 11; ++i) prompts[b].push_back(static_cast<std::int32_t>((b * 7 + i * 3) % 32));
    const Generated together = generated(f, prompts, 4, 5);
    for (const std::size_t b : {std::size_t{0}, std::size_t{1}, std::size_t{9}, std::size_t{63}}) {
      const Generated alone = generated(f, {prompts[b]}, 4, 5);
      CHECK(alone.tokens[0] == together.tokens[b]);
      CHECK(alone.logits[0] == together.logits[b]);
    }
    CHECK(generated(f, {prompts[9], prompts[2], prompts[8]}, 1, 5).logits[0] == together.logits[9]);
  }
}

TEST_CASE("model: the cache refuses what does not fit, and is as it was", "[model]") {
  Fixed f("llama", Ops::fused, {"naive"});
  KernelMachine machine(*f.backend, f.choice);
  Engine engine(f.model, machine, {.ops = Ops::fused, .pages = 3, .page_size = 2});
  const std::vector<std::int32_t> four{1, 2, 3, 4}, wrong{32}, none;
  const std::int64_t a = engine.open(), b = engine.open();
  const NewTokens both[] = {{a, four}, {b, four}};
  CHECK_THROWS_AS(engine.feed(both, false), OutOfPages);
  CHECK(engine.pages().free() == 3);
  CHECK(engine.length(a) == 0);
  CHECK_THROWS_AS(engine.feed(std::vector<NewTokens>{{a, wrong}}, false), BadInput);
  CHECK_THROWS_AS(engine.feed(std::vector<NewTokens>{{a, none}}, false), BadInput);
  engine.feed(std::vector<NewTokens>{{a, four}}, false);
  CHECK(engine.pages().free() == 1);
  engine.close(a);
  CHECK(engine.pages().free() == 3);
}

TEST_CASE("model: 10^4 random requests to the page pool lose no page and share none", "[model]") {
  PagePool pool(64, 16);
  std::vector<std::pair<std::vector<std::int32_t>, std::int64_t>> live;
  const std::uint64_t key = random::key(4711, 0, random::Purpose::kind);
  std::int64_t refused = 0;
  for (std::uint64_t k = 0; k < 10'000; ++k) {
    const std::int64_t what = random::index(key, 3 * k, 8);
    if (what == 0 && !live.empty()) {
      const auto at = static_cast<std::size_t>(random::index(key, 3 * k + 1, static_cast<std::int64_t>(live.size())));
      pool.release(live[at].first);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
      continue;
    }
    if (what < 3 || live.empty()) live.emplace_back();
    auto& [pages, length] = live[static_cast<std::size_t>(random::index(key, 3 * k + 1, static_cast<std::int64_t>(live.size())))];
    const std::int64_t longer = length + 1 + random::index(key, 3 * k + 2, 100), had = pool.free();
    try {
      pool.grow(pages, longer);
      length = longer;
    } catch (const OutOfPages&) {
      ++refused;
      REQUIRE(pool.free() == had);
    }
    std::set<std::int32_t> seen;
    std::int64_t held = 0;
    for (const auto& [of, l] : live) {
      REQUIRE(static_cast<std::int64_t>(of.size()) == (l + 15) / 16);
      seen.insert(of.begin(), of.end());
      held += static_cast<std::int64_t>(of.size());
    }
    REQUIRE(static_cast<std::int64_t>(seen.size()) == held);
    REQUIRE(held + pool.free() == pool.total());
  }
  CHECK(refused > 100);
}

TEST_CASE("model: tokens are drawn by their probabilities, the same ones with the same seed", "[model]") {
  const std::vector<double> logits{0, std::log(3.0), -INFINITY, 0};
  std::vector<int> drawn(4, 0);
  for (std::uint64_t k = 0; k < 5000; ++k) ++drawn[static_cast<std::size_t>(sample(logits, 1, 7, k))];
  CHECK(drawn[2] == 0);
  CHECK(std::abs(drawn[1] - 3000) < 150);
  CHECK(std::abs(drawn[0] - 1000) < 120);
  CHECK(sample(logits, 0, 7, 0) == 1);
  CHECK(sample(logits, 2, 7, 3) == sample(logits, 2, 7, 3));
  CHECK(surprise(logits, 1) == Approx(-std::log(0.6)));
}

}  // namespace
}  // namespace assay
