// SPDX-License-Identifier: Apache-2.0
// A stage of a composite op: a step that is judged by the contract of another op.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/core/axes.hpp"

namespace assay {

// One or more outputs of the composite, computed by `op` from the composite's inputs and the outputs of earlier stages.
struct Stage {
  // Says which tensor of the composite, `is`, stands for the tensor `name` of the stage's op.  Both have the same elements in the
  // same order; their shapes may differ.  If `is` is absent, so is `name`.  An output of the op that no part names is not judged.
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
