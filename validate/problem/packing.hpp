// SPDX-License-Identifier: Apache-2.0
// Packing: a case's images one after the other, the inputs in one memory, the outputs in another.
#pragma once

#include "validate/problem/image.hpp"

namespace assay {

// Where the images of a case lie in the two shared memories.
struct Packing {
  std::vector<Placement> placements;  // of every tensor
  std::vector<std::size_t> at;        // an input's image in the inputs, an output's first image in the outputs
  std::vector<std::size_t> given;     // what the fill makes of a tensor, in the inputs: an input's image, an updated output's
  std::size_t input_bytes = 0;
  std::size_t output_bytes = 0;  // of one run; run k's images start at k * output_bytes
};
Packing pack(const Op& op, const Case& c);

}  // namespace assay
