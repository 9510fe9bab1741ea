// SPDX-License-Identifier: Apache-2.0
// A stage of a composite op: a step that is judged by the contract of another op in the registry.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/core/axes.hpp"

namespace assay {

// One or more outputs of the composite, computed by `op` from its inputs and the outputs of earlier stages.
struct Stage {
  // Binds tensor `name` of the stage's op to tensor `is` of the composite: the same elements in the same order, the shape may
  // differ.  A tensor absent in the composite is absent in the stage; an output of the stage that is not bound is not judged.
  struct Part {
    std::string_view name, is;
  };

  std::string_view op;
  std::vector<Part> parts;
  std::vector<std::pair<std::string_view, double>> attributes;
  Dims dims;  // of the stage's op
};

inline Dims dims_of(std::initializer_list<std::pair<Axis, std::int64_t>> extents) {
  Dims d;
  for (const auto& [axis, extent] : extents) d[axis] = extent;
  return d;
}

}  // namespace assay
