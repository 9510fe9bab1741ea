// SPDX-License-Identifier: Apache-2.0
// What the judge must know of an op to make its cases: a plain description, so that nothing here is a template on ops.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/core/axes.hpp"
#include "ops/core/dtype.hpp"
#include "validate/values/fill.hpp"

namespace assay {

// A number or a choice of words that an op takes beside its tensors.
struct Attribute {
  std::string_view name;
  double standard = 0;                      // the default; of a choice, 0
  std::vector<std::string_view> choices{};  // value 0, 1, ...; empty: any finite number
};

struct OpShape {
  std::string_view name;
  std::span<const AxisUse> axes;
  std::vector<Attribute> attributes;
  std::vector<Fill> fills;  // the op's own probes; may be empty
};

// The element types of activations: what every op takes.
inline constexpr std::array<DType, 3> kActivationDTypes{DType::f16, DType::bf16, DType::f32};

const AxisUse* find_axis(const OpShape&, std::string_view name);         // null: none
const Attribute* find_attribute(const OpShape&, std::string_view name);  // null: none
// An attribute's value as text, shortest form or word, and back.  Throws BadInput.
std::string text_of(const Attribute&, double value);
double value_of(const Attribute&, std::string_view text);

// The fill of that name, the op's own first; null: none.
const Fill* find_fill(const OpShape&, std::string_view name);
std::vector<std::string_view> fill_names(const OpShape&);
std::vector<std::string_view> layout_names();
std::vector<std::string_view> axis_names();
std::vector<std::string_view> axis_names(const OpShape&);
std::vector<std::string_view> dtype_names();

}  // namespace assay
