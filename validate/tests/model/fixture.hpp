// SPDX-License-Identifier: Apache-2.0
// The tiny models of this folder, and a machine for them.
#pragma once

#include <nlohmann/json.hpp>

#include "catch_shim.hpp"
#include "validate/backends/backends.hpp"
#include "validate/base/input.hpp"
#include "validate/model/check.hpp"

namespace assay {

using Json = nlohmann::json;

inline Json json_of(const std::string& path) {
  std::string why;
  return Json::parse(read_file(path, why).value());
}
inline bool has(const std::string& text, const std::string& part) {
  if (text.find(part) == text.npos) WARN(text);
  return text.find(part) != text.npos;
}

inline const std::string kFolder = "validate/tests/model/";
inline constexpr const char* kFamilies[] = {"llama",           "llama_biased", "gpt2",           "gpt_neox",
                                            "gpt_neox_serial", "llama_scaled", "gpt_neox_scaled"};

inline LoadedModel loaded(const std::string& folder, std::optional<DType> dtype = {}) {
  return load_model(read_config(folder + "/config.json"), folder, dtype);
}

struct Fixed {  // a model on simt, with chosen kernels
  LoadedModel model;
  EngineOptions options;
  std::unique_ptr<Backend> backend;
  KernelChoice choice;
  Fixed(const std::string& family, Ops ops, const std::vector<std::string>& kernels, std::optional<DType> dtype = {},
        std::unique_ptr<Backend> on = open_simt())
      : model(loaded(kFolder + family, dtype)),
        options{.ops = ops, .pages = 100, .page_size = 4},
        backend(std::move(on)),
        choice(kernels, ASSAY_DATASETS_DIR, every_step(model.decoder, ops), *backend, model.dtype) {}
  ModelCheck check(const Texts& texts) { return check_model(model, *backend, choice, options, texts, 4, 1); }
};

}  // namespace assay
