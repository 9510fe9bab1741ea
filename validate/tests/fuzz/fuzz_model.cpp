// SPDX-License-Identifier: Apache-2.0
// Any bytes as the config.json of a model and as the index of its weights.  What is taken has extents that can be computed with.
#include <cmath>
#include <string>

#include "validate/model/config.hpp"
#include "validate/model/weights.hpp"
#include "validate/tests/fuzz/fuzz.hpp"

using namespace assay;
using namespace assay::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  accepted([&] {
    const reference::Decoder d = parse_config(text, "config.json").decoder;
    require(d.hidden > 0 && d.ffn > 0 && d.vocab > 0 && d.positions > 0 && d.head_dim > 0 && !d.layers.empty(), "no extent is 0");
    require(d.heads % d.kv_heads == 0, "heads are grouped");
    require(d.rotates() ? d.rotary_dim >= 2 && d.rotary_dim <= static_cast<double>(d.head_dim) && std::fmod(d.rotary_dim, 2) == 0
                        : d.rotary_dim == 0,
            "whole pairs of a head rotate");
    require(std::isfinite(d.epsilon) && d.epsilon >= 0 && d.rope_base >= 1 && d.rope_base <= 0x1p60, "as the ops want it");
  });
  accepted([&] {
    const ModelConfig c = parse_config(text, "config.json", {"sliding_window", "rope_scaling.type"});
    require(c.ignored.size() == 2, "what is ignored is told");
    require(c.frequencies.empty(), "and has no effect");
  });
  accepted([&] {
    for (const auto& [tensor, file] : parse_index(text, "index.json"))
      require(!file.empty() && file.find('/') == file.npos, "files lie beside the index");
  });
  return 0;
}
