// SPDX-License-Identifier: Apache-2.0
// A step of an op that is made of other ops, by the names of those in the registry.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/core/axes.hpp"

namespace assay {

// One or more outputs, and by the contract of which op they follow from tensors that are inputs or outputs of stages before.
struct Stage {
  // A tensor of that op and the tensor that it is, whose elements it has in the same order, whatever its shape.  One that is
  // absent here is absent there; an output that is not named is nobody's.
  struct Part {
    std::string_view name, is;
  };

  std::string_view op;
  std::vector<Part> parts;
  std::vector<std::pair<std::string_view, double>> attributes;
  Dims dims;  // of that op
};

inline Dims dims_of(std::initializer_list<std::pair<Axis, std::int64_t>> extents) {
  Dims d;
  for (const auto& [axis, extent] : extents) d[axis] = extent;
  return d;
}

}  // namespace assay
