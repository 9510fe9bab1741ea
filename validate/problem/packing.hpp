// SPDX-License-Identifier: Apache-2.0
// Packing: the offsets of a case's images in two shared memories, one for inputs and one for outputs.
#pragma once

#include "validate/problem/image.hpp"

namespace assay {

// Offsets of images in the two memories.
struct Packing {
  std::vector<Placement> placements;  // per tensor
  std::vector<std::size_t> at;        // of an input's image in the input memory, of an output's image of run 0 in the other
  std::vector<std::size_t> given;     // of filled values in the input memory: an input's, or an updated output's initial ones
  std::size_t input_bytes = 0;
  std::size_t output_bytes = 0;  // per run; run k's images start at k * output_bytes
};
Packing pack(const Op& op, const Case& c);
Packing pack(const Op& op, std::vector<Placement> placements);
// The input memory with the case's values in it.
std::vector<std::byte> filled_inputs(const Op&, const Case&, const Packing&);

}  // namespace assay
