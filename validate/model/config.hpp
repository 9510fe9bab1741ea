// SPDX-License-Identifier: Apache-2.0
// The facts of a decoder, from the config.json that Hugging Face's models come with: families gpt2, gpt_neox and llama.
#pragma once

#include <string>
#include <vector>

#include "reference/core/model.hpp"

namespace assay {

struct ModelConfig {
  reference::Decoder decoder{};      // without weights; `layers` has its length
  bool tied = false;                 // the head is the embedding
  bool attention_bias = false;       // llama: the four products of attention add a bias
  std::vector<float> frequencies{};  // of rope, head_dim of them, of which those of pairs count; empty: by its base
};

// Throws BadInput, a sentence that names the file, the field and what was expected.
ModelConfig read_config(const std::string& path);
// The same of a text; `path` is its name in messages.
ModelConfig parse_config(const std::string& text, const std::string& path);

}  // namespace assay
