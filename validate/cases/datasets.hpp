// SPDX-License-Identifier: Apache-2.0
// Reads the datasets folder: models/*.json (facts of published models), edges/common.json (values of axes, fills and layouts for
// every op) and edges/<op>.json (groups of cases for one op).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "validate/cases/model.hpp"
#include "validate/cases/op_shape.hpp"
#include "validate/cases/place.hpp"

namespace assay {

// In edges/common.json: what holds for the axes that an op has for itself.
inline constexpr std::string_view kOtherAxis = "other";

// The cases of all combinations of its lists.  Every axis is required; fills and layouts have defaults.
struct Group {
  Place place{};
  std::vector<std::string> suites;
  std::map<std::string, std::vector<std::int64_t>> axes{};
  std::map<std::string, std::vector<std::string>> attributes{};  // as text: a number or a word
  std::vector<std::string> fills{"normal"}, layouts{"contiguous"};
  std::vector<DType> dtypes{};  // empty: all
  std::string blocks_along{};   // the axis for Case::blocks_along
};

// The ranges from which the random suite draws.
struct Ranges {
  Place place{};
  std::map<std::string, std::array<std::int64_t, 2>> axes{};        // least and greatest extent
  std::map<std::string, std::vector<std::string>> attributes{};     // as text: a number or a word
  std::vector<std::string> fills{"normal"}, layouts{"contiguous"};  // a quarter of the cases have these fills, others any
  std::int64_t most_elements = 0;
};

// How to make a case of an op from a model.  It gives each axis and attribute a figure of the model ("cols": "hidden") or a value
// ("batch": 1, "mask": "causal"), and names the fill.
struct ModelUse {
  Place place{};
  std::string fill = "normal";
  std::map<std::string, std::string> figures{};  // by axis or attribute: "tokens", "hidden", "norm_epsilon", ...
  std::map<std::string, std::string> values{};   // by axis or attribute, as text
  // The figures that decide whether the op computes what a model does, and what each may be.
  std::map<std::string, std::vector<std::string>> needs{};
};

// The file of one op.
struct Edges {
  std::string op;
  Place place{};
  std::vector<ModelUse> models{};  // the first is the smoke suite's; empty: that of edges/common.json
  std::vector<Group> groups{};
  std::optional<Ranges> random{};
};

// edges/common.json.
struct Common {
  Place place{};
  std::int64_t smoke_tokens = 0;   // token count of the smoke suite's models
  std::int64_t most_elements = 0;  // larger cases of `axes`, and of models in smoke, are left out
  // By suite, then axis: the extents to try, the default first.  Under "alone" those of that layout, where rows are whole pieces
  // of 16 bytes.  Layouts, by suite, are tried at the default shape, and so are these fills in smoke.
  std::map<std::string, std::map<std::string, std::vector<std::int64_t>>> axes{};
  std::map<std::string, std::vector<std::string>> layouts{};
  std::vector<std::string> smoke_fills{};
  std::vector<std::int64_t> extents{};            // that each axis has in edges, alone
  std::map<std::string, std::int64_t> counted{};  // by axis that mostly counts: more than a grid has blocks; edges alone
  std::map<std::string, std::int64_t> longer{};   // by axis: an extent beyond those of `combined`, where this axis alone is long
  std::map<std::string, std::vector<std::int64_t>> combined{};  // by axis: extents that coverage.hpp combines, the smallest first
  ModelUse models{};
  Ranges random{};
};

struct Datasets {
  std::vector<Model> models;  // by file name
  Common common;
  std::map<std::string, Edges> edges;  // by op
};

// What a table by axis says of one, and of an op's own axis that it does not name what it says of "other"; null: nothing.
template <class Value>
const Value* find_of_axis(const std::map<std::string, Value>& table, const Axis& axis) {
  auto at = table.find(std::string(axis.name));
  const bool is_own = std::find(kAxes.begin(), kAxes.end(), axis) == kAxes.end();
  if (at == table.end() && is_own) at = table.find(std::string(kOtherAxis));
  return at == table.end() ? nullptr : &at->second;
}
// The same of a table that has every axis.
template <class Value>
const Value& of_axis(const std::map<std::string, Value>& table, const Axis& axis) {
  const Value* const value = find_of_axis(table, axis);
  if (!value) throw std::out_of_range("no value for the axis " + std::string(axis.name));
  return *value;
}

// Whether the op computes what the model does; other models are left out.
bool suits(const Model&, const ModelUse&);

// Throws BadInput, naming the file and the line or the JSON pointer.
Datasets load_datasets(const std::filesystem::path& folder);
inline constexpr const char* kCommonEdges = "edges/common.json";  // what every folder of datasets has
bool has_datasets(const std::filesystem::path& folder);
// Parse the text of one file; `file` is its name in messages.  Models and ops are named by the stems of their files.
Model parse_model(const std::string& text, const std::string& stem, const std::string& file);
Common parse_common(const std::string& text, const std::string& file);
Edges parse_edges(const std::string& text, const std::string& op, const std::string& file);

// Checks that every axis, attribute and fill named in the op's file exists.  Throws BadInput.
void check(const Edges&, const OpShape&);
// Checks every file, and that each belongs to an op.
// `left_out`: whether a name is that of an op of the tree that the program was built without.
void check(const Datasets&, std::span<const OpShape>, bool (*left_out)(std::string_view op) = nullptr);

// smoke, edges, models, random, full, sanitize, watch, long, fixed, errors.
const std::vector<std::string_view>& suite_names();

}  // namespace assay
