// SPDX-License-Identifier: Apache-2.0
// The weights of a decoder from .safetensors under the names that Hugging Face's models give them: one file, or several with an
// index.  GPT-2 stores its products transposed; GPT-NeoX stores query, key and value of each head one after the other.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "validate/files/tensor_file.hpp"
#include "validate/model/config.hpp"

namespace assay {

// A decoder with its weights in one dtype, and the memory that holds them.
struct LoadedModel {
  reference::Decoder decoder{};
  DType dtype = f32;
  std::deque<std::vector<std::byte>> memory{};
  std::vector<TensorFile> files{};
  std::vector<std::shared_ptr<void>> mapped{};
};

// Reads the weights from a folder, a .safetensors or an index, and converts them to `dtype`; empty: the dtype of the embedding in
// the file.  Throws BadInput, a sentence that names the file, the tensor and what was expected.
LoadedModel load_model(const ModelConfig&, const std::string& path, std::optional<DType> dtype);

// A decoder of that shape with random weights, to be timed: products and tables are normal with a standard deviation of 0.02,
// norms change nothing, biases are 0.  Its memory is 16 MiB, whose values come again and again.
LoadedModel random_model(const ModelConfig&, DType dtype, std::uint64_t seed);

// The file of each tensor, from the text of an index; `path` is its name in messages.  Throws BadInput.
std::map<std::string, std::string> parse_index(const std::string& text, const std::string& path);

}  // namespace assay
