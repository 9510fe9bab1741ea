// SPDX-License-Identifier: Apache-2.0
#include "validate/model/weights.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "ops/core/dense.hpp"
#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/base/unique_keys.hpp"
#include "validate/values/random.hpp"

namespace assay {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Family = reference::Decoder::Family;
using Shape = std::vector<std::int64_t>;

constexpr std::string_view kSingle = "model.safetensors", kIndex = "model.safetensors.index.json";

// The files of a model, and which file has which tensor.
class Source {
 public:
  Source(const std::string& path, std::vector<TensorFile>& files) : files_(files), name_(path) {
    fs::path file = path;
    std::error_code none;
    if (fs::is_directory(file, none)) {
      file = fs::exists(file / kIndex, none) && !fs::exists(file / kSingle, none) ? file / kIndex : file / kSingle;
      name_ = file.string();
    }
    if (name_.ends_with(".json")) read_index(file);
    else read(name_, {});
  }
  const std::string& name() const { return name_; }
  bool has(const std::string& tensor) const { return at_.contains(tensor); }

  struct Found {
    const FileTensor& tensor;
    const std::string& file;
  };
  Found find(const std::string& tensor) {
    const auto at = at_.find(tensor);
    if (at == at_.end()) throw BadInput(fmt::format("'{}' has no tensor '{}', which the model needs", name_, tensor));
    used_.insert(tensor);
    return {*at->second.first, at->second.second};
  }
  void ignore(const std::string& tensor) { used_.insert(tensor); }
  // Throws BadInput if a tensor was neither used nor ignored.
  void require_used() const {
    for (const auto& [tensor, at] : at_)
      if (!used_.contains(tensor))
        throw BadInput(fmt::format("'{}' has a tensor '{}', and a model of its config.json has none of that name", at.second,
                                   plain(tensor)));
  }

 private:
  void read(const std::string& file, const std::map<std::string, std::string>& expected) {
    const TensorFile& read = files_.emplace_back(read_tensors(file));
    for (const FileTensor& t : read.tensors) {
      if (const auto at = expected.find(t.name); !expected.empty() && (at == expected.end() || at->second != file))
        throw BadInput(
            fmt::format("'{}' has a tensor '{}', which the index '{}' does not place there", file, plain(t.name), name_));
      at_.emplace(t.name, std::pair{&t, file});
    }
  }
  void read_index(const fs::path& index) {
    std::string why;
    const std::optional<std::string> text = read_file(name_, why);
    if (!text) throw BadInput(fmt::format("'{}' cannot be read: {}", name_, why));
    std::map<std::string, std::string> expected;
    std::set<std::string> names;
    for (const auto& [tensor, file] : parse_index(*text, name_)) {
      expected[tensor] = (index.parent_path() / file).string();
      names.insert(expected[tensor]);
    }
    files_.reserve(names.size());  // Note: at_ points into it
    for (const std::string& file : names) read(file, expected);
    for (const auto& [tensor, file] : expected)
      if (!at_.contains(tensor))
        throw BadInput(fmt::format("'{}' has no tensor '{}', which the index '{}' places there", file, plain(tensor), name_));
  }

  std::vector<TensorFile>& files_;
  std::string name_;
  std::map<std::string, std::pair<const FileTensor*, std::string>> at_;
  std::set<std::string> used_;
};

// Values that come again and again: the same pages, mapped one time after the other.
class Repeated {
 public:
  Repeated(DType dtype, std::uint64_t seed) : file_(::memfd_create("weights", MFD_CLOEXEC)) {
    std::vector<std::byte> values(kBytes);
    const std::uint64_t key = random::key(seed, 0, random::Purpose::value);
    const std::int64_t count = static_cast<std::int64_t>(kBytes) / size_of(dtype);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; ++i)
      encode(dtype, values.data(), i, 0.02 * random::normal(key, static_cast<std::uint64_t>(i)));
    std::size_t done = 0;
    while (file_ >= 0 && done < kBytes) {
      const ssize_t n = ::write(file_, values.data() + done, kBytes - done);
      if (n <= 0) break;
      done += static_cast<std::size_t>(n);
    }
    if (done < kBytes) fail();
  }
  ~Repeated() {
    if (file_ >= 0) ::close(file_);
  }
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;
  // The next `bytes` of them.
  std::shared_ptr<void> next(std::size_t bytes) {
    const std::size_t all = (bytes + kPage - 1) / kPage * kPage;
    void* const memory = ::mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) fail();
    std::shared_ptr<void> owned(memory, [all](void* p) { ::munmap(p, all); });
    for (std::size_t at = 0; at < all;) {
      const std::size_t part = std::min(all - at, kBytes - from_);
      if (::mmap(static_cast<std::byte*>(memory) + at, part, PROT_READ, MAP_SHARED | MAP_FIXED, file_,
                 static_cast<off_t>(from_)) == MAP_FAILED)
        fail();
      at += part;
      from_ = (from_ + part) % kBytes;
    }
    return owned;
  }

 private:
  static constexpr std::size_t kPage = 4096, kBytes = 4099 * kPage;  // a prime number, so that few rows of a table are alike
  [[noreturn]] static void fail() { throw std::runtime_error(fmt::format("no memory for weights: {}", std::strerror(errno))); }
  int file_;
  std::size_t from_ = 0;
};

// What a vector of weights holds where weights are random: a norm's factors change nothing, and sums add nothing.
enum class Vector { factors, addends };

class Loader {
 public:
  Loader(const ModelConfig& config, DType dtype, std::uint64_t seed)
      : config_(config), repeated_(std::make_unique<Repeated>(dtype, seed)) {
    model_.decoder = config.decoder;
    model_.dtype = dtype;
    d().embedding = matrix(std::string(), d().vocab, d().hidden);
  }
  Loader(const ModelConfig& config, const std::string& path, std::optional<DType> dtype) : config_(config) {
    model_.decoder = config.decoder;
    model_.files.reserve(1);
    source_ = std::make_unique<Source>(path, model_.files);
    const char* const embedding = d().family == Family::gpt2      ? "wte.weight"
                                  : d().family == Family::gptneox ? "gpt_neox.embed_in.weight"
                                                                  : "model.embed_tokens.weight";
    if (d().family == Family::gpt2 && source_->has("transformer.wte.weight")) prefix_ = "transformer.";
    const auto found = source_->find(prefix_ + embedding);
    require_float(found, prefix_ + embedding);
    model_.dtype = dtype.value_or(*found.tensor.known);
    d().embedding = matrix(prefix_ + embedding, d().vocab, d().hidden);
  }

  LoadedModel load() {
    if (const std::vector<float>& f = config_.frequencies; !f.empty()) {
      std::vector<std::byte>& memory = model_.memory.emplace_back(f.size() * sizeof(float));
      std::memcpy(memory.data(), f.data(), memory.size());
      d().frequencies = dense(memory.data(), f32, {static_cast<std::int64_t>(f.size())});
    }
    for (std::size_t i = 0; i < d().layers.size(); ++i) {
      if (d().family == Family::gpt2) gpt2_layer(d().layers[i], i);
      else if (d().family == Family::gptneox) gptneox_layer(d().layers[i], i);
      else llama_layer(d().layers[i], i);
    }
    std::string head = "lm_head.weight";
    if (d().family == Family::gpt2) {
      d().position_embedding = matrix(prefix_ + "wpe.weight", d().positions, d().hidden);
      norm(prefix_ + "ln_f", d().gamma, &d().beta);
    } else if (d().family == Family::gptneox) {
      norm("gpt_neox.final_layer_norm", d().gamma, &d().beta);
      head = "embed_out.weight";
    } else {
      norm("model.norm", d().gamma, nullptr);
    }
    if (config_.tied) tie(head);
    else d().head = matrix(head, d().vocab, d().hidden);
    if (source_) source_->require_used();
    return std::move(model_);
  }

 private:
  reference::Decoder& d() { return model_.decoder; }
  void ignore(const std::string& tensor) {
    if (source_) source_->ignore(tensor);
  }

  // The head is the embedding; a file that holds it once more must hold the same.
  void tie(const std::string& head) {
    d().head = d().embedding;
    if (!source_ || !source_->has(head)) return;
    const Tensor stored = matrix(head, d().vocab, d().hidden);
    if (std::memcmp(stored.data, d().embedding.data, static_cast<std::size_t>(stored.bytes())) != 0)
      throw BadInput(fmt::format(
          "'{}': '{}' is not the embedding, and by config.json ('tie_word_embeddings') it was expected to be", file_, head));
  }

  void require_float(const Source::Found& found, const std::string& name) const {
    if (const auto& known = found.tensor.known; !known || !is_float(*known) || *known == f64)
      throw BadInput(fmt::format("'{}': '{}' is in {}, and F16, BF16 or F32 was expected", found.file, name, found.tensor.dtype));
  }
  const FileTensor& found(const std::string& name, const Shape& shape) {
    static const FileTensor none{};
    if (!source_) return none;
    const Source::Found at = source_->find(name);
    require_float(at, name);
    file_ = at.file;
    if (at.tensor.shape != shape)
      throw BadInput(fmt::format("'{}': '{}' has the shape {}, and by config.json {} was expected", at.file, name,
                                 shape_text(at.tensor.shape), shape_text(shape)));
    return at.tensor;
  }
  Tensor empty(const Shape& shape) const {
    Tensor made{.dtype = model_.dtype, .rank = static_cast<int>(shape.size())};
    std::copy(shape.begin(), shape.end(), made.shape.begin());
    make_contiguous(made);
    return made;
  }
  // A tensor in the model's dtype; element i of it is element from(i) of the file's.
  template <class From>
  Tensor read(const std::string& name, const FileTensor& t, const Shape& shape, bool same_order, From from) {
    Tensor made = empty(shape);
    const std::byte* const data = t.data.data();
    const bool aligned = reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(size_of(made.dtype)) == 0;
    if (same_order && *t.known == made.dtype && aligned) {
      made.data = const_cast<std::byte*>(data);
      return made;
    }
    made.data = model_.memory.emplace_back(static_cast<std::size_t>(made.bytes())).data();
    for (std::int64_t i = 0; i < made.size(); ++i) {
      const double v = decode(*t.known, data, from(i));
      made.set(i, v);
      if (std::isfinite(v) && !std::isfinite(made.at(i)))
        throw BadInput(fmt::format("'{}': '{}' holds {}, which {} cannot hold", file_, name, v, assay::name(made.dtype)));
    }
    return made;
  }
  static std::int64_t as_stored(std::int64_t i) { return i; }
  template <class From>
  Tensor matrix(const std::string& name, const FileTensor& t, const Shape& shape, bool same_order, From from) {
    if (!repeated_) return read(name, t, shape, same_order, from);
    Tensor made = empty(shape);
    made.data = model_.mapped.emplace_back(repeated_->next(static_cast<std::size_t>(made.bytes()))).get();
    return made;
  }
  Tensor matrix(const std::string& name, std::int64_t rows, std::int64_t cols) {
    return matrix(name, found(name, {rows, cols}), {rows, cols}, true, as_stored);
  }
  template <class From>
  Tensor vector(Vector holds, const std::string& name, const FileTensor& t, std::int64_t size, bool same_order, From from) {
    if (!repeated_) return read(name, t, {size}, same_order, from);
    Tensor made = empty({size});
    made.data = model_.memory.emplace_back(static_cast<std::size_t>(made.bytes())).data();
    for (std::int64_t i = 0; i < size; ++i) made.set(i, holds == Vector::factors ? 1 : 0);
    return made;
  }
  Tensor vector(Vector holds, const std::string& name, std::int64_t size) {
    return vector(holds, name, found(name, {size}), size, true, as_stored);
  }
  void norm(const std::string& name, Tensor& gamma, Tensor* beta) {
    gamma = vector(Vector::factors, name + ".weight", d().hidden);
    if (beta) *beta = vector(Vector::addends, name + ".bias", d().hidden);
  }
  void product(const std::string& name, std::int64_t out, std::int64_t in, Tensor& weight, Tensor* bias) {
    weight = matrix(name + ".weight", out, in);
    if (bias) *bias = vector(Vector::addends, name + ".bias", out);
  }

  // A Conv1D of GPT-2 has the weight [in, all]; this takes its outputs [first, first + out).
  void conv1d(const std::string& name, std::int64_t all, std::int64_t first, std::int64_t out, std::int64_t in, Tensor& weight,
              Tensor& bias) {
    weight = matrix(name + ".weight", found(name + ".weight", {in, all}), {out, in}, false,
                    [=](std::int64_t i) { return i % in * all + first + i / in; });
    bias = vector(Vector::addends, name + ".bias", found(name + ".bias", {all}), out, false,
                  [=](std::int64_t i) { return first + i; });
  }
  void gpt2_layer(reference::Decoder::Layer& l, std::size_t i) {
    const std::string at = fmt::format("{}h.{}.", prefix_, i);
    const std::int64_t h = d().hidden, f = d().ffn;
    norm(at + "ln_1", l.gamma1, &l.beta1);
    norm(at + "ln_2", l.gamma2, &l.beta2);
    conv1d(at + "attn.c_attn", 3 * h, 0, h, h, l.wq, l.bq);
    conv1d(at + "attn.c_attn", 3 * h, h, h, h, l.wk, l.bk);
    conv1d(at + "attn.c_attn", 3 * h, 2 * h, h, h, l.wv, l.bv);
    conv1d(at + "attn.c_proj", h, 0, h, h, l.wo, l.bo);
    conv1d(at + "mlp.c_fc", f, 0, f, h, l.w_up, l.b_up);
    conv1d(at + "mlp.c_proj", h, 0, h, f, l.w_down, l.b_down);
    ignore(at + "attn.bias");
    ignore(at + "attn.masked_bias");
  }
  // query_key_value has, for each head, the rows of its query, of its key and of its value.
  void gptneox_layer(reference::Decoder::Layer& l, std::size_t i) {
    const std::string at = fmt::format("gpt_neox.layers.{}.", i), fused = at + "attention.query_key_value";
    const std::int64_t h = d().hidden, dim = d().head_dim;
    norm(at + "input_layernorm", l.gamma1, &l.beta1);
    norm(at + "post_attention_layernorm", l.gamma2, &l.beta2);
    const auto part = [&](std::int64_t which, Tensor& weight, Tensor& bias) {
      const auto row = [=](std::int64_t r) { return r / dim * 3 * dim + which * dim + r % dim; };
      weight = matrix(fused + ".weight", found(fused + ".weight", {3 * h, h}), {h, h}, false,
                      [=](std::int64_t e) { return row(e / h) * h + e % h; });
      bias = vector(Vector::addends, fused + ".bias", found(fused + ".bias", {3 * h}), h, false, row);
    };
    part(0, l.wq, l.bq);
    part(1, l.wk, l.bk);
    part(2, l.wv, l.bv);
    product(at + "attention.dense", h, h, l.wo, &l.bo);
    product(at + "mlp.dense_h_to_4h", d().ffn, h, l.w_up, &l.b_up);
    product(at + "mlp.dense_4h_to_h", h, d().ffn, l.w_down, &l.b_down);
    for (const char* buffer : {"bias", "masked_bias", "rotary_emb.inv_freq"}) ignore(at + "attention." + buffer);
  }
  void llama_layer(reference::Decoder::Layer& l, std::size_t i) {
    const std::string at = fmt::format("model.layers.{}.", i);
    const std::int64_t h = d().hidden, q = d().heads * d().head_dim, kv = d().kv_heads * d().head_dim;
    const bool biased = config_.attention_bias;
    norm(at + "input_layernorm", l.gamma1, nullptr);
    norm(at + "post_attention_layernorm", l.gamma2, nullptr);
    product(at + "self_attn.q_proj", q, h, l.wq, biased ? &l.bq : nullptr);
    product(at + "self_attn.k_proj", kv, h, l.wk, biased ? &l.bk : nullptr);
    product(at + "self_attn.v_proj", kv, h, l.wv, biased ? &l.bv : nullptr);
    product(at + "self_attn.o_proj", h, q, l.wo, biased ? &l.bo : nullptr);
    product(at + "mlp.gate_proj", d().ffn, h, l.w_gate, nullptr);
    product(at + "mlp.up_proj", d().ffn, h, l.w_up, nullptr);
    product(at + "mlp.down_proj", h, d().ffn, l.w_down, nullptr);
    ignore(at + "self_attn.rotary_emb.inv_freq");
  }

  const ModelConfig& config_;
  LoadedModel model_;
  std::unique_ptr<Source> source_;      // null: random weights
  std::unique_ptr<Repeated> repeated_;  // of these
  std::string prefix_, file_;
};

}  // namespace

std::map<std::string, std::string> parse_index(const std::string& text, const std::string& path) {
  const Json json = nests_too_deeply(text) ? Json() : Json::parse(text, unique_keys<Json>(fmt::format("'{}': it", path)), false);
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object())
    throw BadInput(fmt::format("'{}': it has no object 'weight_map', which names the file of each tensor", path));
  std::map<std::string, std::string> files;
  for (const auto& [tensor, file] : json["weight_map"].items()) {
    if (!file.is_string() || file.get<std::string>().empty() || file.get<std::string>().find('/') != std::string::npos)
      throw BadInput(fmt::format("'{}': the file of '{}' is {}, and the name of a file beside the index was expected", path,
                                 plain(tensor), plain(file.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 60))));
    files[tensor] = file.get<std::string>();
  }
  return files;
}

LoadedModel load_model(const ModelConfig& config, const std::string& path, std::optional<DType> dtype) {
  return Loader(config, path, dtype).load();
}
LoadedModel random_model(const ModelConfig& config, DType dtype, std::uint64_t seed) {
  return Loader(config, dtype, seed).load();
}

}  // namespace assay
