// SPDX-License-Identifier: Apache-2.0
// The facts of a decoder, from the config.json that Hugging Face's models come with: families gpt2, gpt_neox and llama.
#pragma once

#include <string>
#include <vector>

#include "reference/core/model.hpp"
#include "validate/model/config/fields.hpp"

namespace assay {

struct ModelConfig {
  reference::Decoder decoder{};      // without weights; `layers` has its length
  bool tied = false;                 // the head is the embedding
  bool attention_bias = false;       // llama: the four products of attention add a bias
  std::vector<float> frequencies{};  // of rope, head_dim of them, of which those of pairs count; empty: by its base
  IgnoredFields ignored{};           // told to the user
};

// `ignore` names fields that are left out although they ask for what is not computed here.  Throws BadInput, a sentence that
// names the file, the field and what was expected.
ModelConfig read_config(const std::string& path, const std::vector<std::string>& ignore = {});
// The same of a text; `path` is its name in messages.
ModelConfig parse_config(const std::string& text, const std::string& path, const std::vector<std::string>& ignore = {});

}  // namespace assay
