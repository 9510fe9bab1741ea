// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/packing.hpp"

namespace assay {

Packing pack(const Op& op, const Case& c) { return pack(op, place(op, c)); }

Packing pack(const Op& op, std::vector<Placement> placements) {
  Packing p{.placements = std::move(placements)};
  for (std::size_t i = 0; i < p.placements.size(); ++i) {
    const auto take = [&](std::size_t& total) {
      const std::size_t begin = total + p.placements[i].offset;
      total += (p.placements[i].offset + p.placements[i].bytes + 255) / 256 * 256;
      return begin;
    };
    p.given.push_back(is_given(op.tensors[i]) ? take(p.input_bytes) : 0);
    p.at.push_back(op.tensors[i].role == Role::output ? take(p.output_bytes) : p.given.back());
  }
  return p;
}

std::vector<std::byte> filled_inputs(const Op& op, const Case& c, const Packing& packing) {
  std::vector<std::byte> inputs(packing.input_bytes, kGapByte);
  for (std::size_t t = 0; t < op.tensors.size(); ++t)
    if (is_given(op.tensors[t]))
      fill_image(op, c, static_cast<int>(t), packing.placements[t], inputs.data() + packing.given[t], {});
  return inputs;
}

}  // namespace assay
