// SPDX-License-Identifier: Apache-2.0
// What is needed of an op to make its cases: its axes, attributes and fills.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/core/axes.hpp"
#include "ops/core/dtype.hpp"
#include "validate/values/fill.hpp"

namespace assay {

// A parameter of an op besides its tensors: a number, or a choice of one word of several.
struct Attribute {
  std::string_view name;
  double standard = 0;                      // the default; 0, the first word, for a choice
  std::vector<std::string_view> choices{};  // a choice's words, for the values 0, 1, ...; empty: a number, any finite one
};

// Whether a fill's values overflow what sound kernels keep between inputs and outputs: a sum, a score, a stored intermediate; or
// meet there as infinity times 0.  So they differ, and nobody is wrong.  Or its right answers are all 0, which prove nothing.
using ShowsNothing = std::function<bool(std::string_view fill, DType dtype)>;

struct OpShape {
  std::string_view name;
  std::span<const AxisUse> axes;
  std::vector<Attribute> attributes;
  std::vector<Fill> fills;                 // the op's own fills; may be empty
  ShowsNothing shows_nothing{};            // of fills that it does not take; null: it takes all
  int alone_places = 1;                    // where layout `alone` may break the alignment
  std::vector<std::string_view> brings{};  // attributes that bring a tensor of numbers, such as a bias
};

// The element types of activations, which every op accepts.
inline constexpr std::array<DType, 3> kActivationDTypes{DType::f16, DType::bf16, DType::f32};

const AxisUse* find_axis(const OpShape&, std::string_view name);         // null: none
const Attribute* find_attribute(const OpShape&, std::string_view name);  // null: none
// An attribute's value as text (the shortest that reads back the same, or a choice's word), and back.  Throws BadInput.
std::string text_of(const Attribute&, double value);
double value_of(const Attribute&, std::string_view text);

// The fill of that name, the op's own fills first; null: none.
const Fill* find_fill(const OpShape&, std::string_view name);
std::vector<std::string_view> fill_names(const OpShape&);
std::vector<std::string_view> layout_names();
// The axes that many ops share, for which edges/common.json has extents.
std::vector<std::string_view> axis_names();
std::vector<std::string_view> axis_names(const OpShape&);
std::vector<std::string_view> dtype_names();
// "unknown dtype 'fp16'. Did you mean 'f16'?"  Knows other programs' names of dtypes.
std::string unknown_dtype(std::string_view text);

}  // namespace assay
