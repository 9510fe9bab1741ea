// SPDX-License-Identifier: Apache-2.0
// What the judge must know of an op to make its cases: a plain description, so that nothing here is a template on ops.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/core/axes.hpp"
#include "ops/core/dtype.hpp"
#include "validate/fill.hpp"

namespace assay {

struct OpShape {
  std::string_view name;
  std::span<const AxisUse> axes;
  std::vector<std::pair<std::string, double>> attributes;  // name, default
  std::vector<Fill> fills;                                 // the op's own probes; may be empty
};

// The element types of activations: what every op takes.
inline constexpr std::array<DType, 3> kActivationDTypes{DType::f16, DType::bf16, DType::f32};

// The fill of that name, the op's own first; null: none.
const Fill* find_fill(const OpShape&, std::string_view name);
std::vector<std::string_view> fill_names(const OpShape&);
std::vector<std::string_view> layout_names();
std::vector<std::string_view> axis_names();
std::vector<std::string_view> axis_names(const OpShape&);
std::vector<std::string_view> dtype_names();

}  // namespace assay
