// SPDX-License-Identifier: Apache-2.0
// The datasets folder, read: models/*.json (dims of published models), edges/common.json (what any axis, fill and
// layout deserves) and edges/<op>.json (what one op deserves beyond that).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validate/cases/op_shape.hpp"

namespace assay {

struct Model {
  std::string stem;  // of its file: "gpt2-124m"
  std::string name{}, source{}, note{};
  std::int64_t hidden = 0, ffn = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t rotary_dim = 0;  // 0: positions are learned
  std::string norm_kind{};      // layernorm, rmsnorm, rmsnorm_1p (weight 1 + w)
  double norm_epsilon = 0;
  double rope_theta = 0;
  std::map<std::string, double> rope_scaling{};  // empty: none
  std::string activation{};                      // gelu_tanh, gelu_erf, swiglu, geglu_tanh
  std::vector<std::int64_t> tokens{};            // token counts that its suite asks for
  bool smoke = false;                            // one of those that the smoke suite takes
};

// What a place in a file is called in a message: the file and a JSON pointer.
struct Place {
  std::string file{}, pointer{};
};

// The product of its lists.  An axis left out is an error, a fill or layout left out is the usual one.
struct Group {
  Place place{};
  std::vector<std::string> suites;
  std::map<std::string, std::vector<std::int64_t>> axes{};
  std::map<std::string, std::vector<std::string>> attributes{};  // as text: a number or a word
  std::vector<std::string> fills{"normal"}, layouts{"contiguous"};
  std::vector<DType> dtypes{};  // empty: all
  std::string blocks_along{};   // an axis: of Case::blocks_along
};

// What the random suite draws from.
struct Ranges {
  Place place{};
  std::map<std::string, std::array<std::int64_t, 2>> axes{};     // first and last extent
  std::map<std::string, std::vector<std::string>> attributes{};  // as text: a number or a word
  std::vector<std::string> fills{"normal"}, layouts{"contiguous"};
  std::int64_t most_elements = 0;
};

// A model's figure for each axis or attribute of an op: "tokens", "hidden", "norm_epsilon", ... or a number, or a word; the fill.
struct ModelUse {
  Place place{};
  std::string fill = "normal";
  std::map<std::string, std::string> figures{};
  std::map<std::string, double> constants{};
  std::map<std::string, std::string> words{};  // of choices
};

struct Edges {
  std::string op;
  Place place{};
  std::optional<ModelUse> models{};
  std::vector<Group> groups{};
  std::optional<Ranges> random{};
};

struct Common {
  Place place{};
  std::int64_t smoke_tokens = 0;  // token count of the smoke suite's models
  std::int64_t most_elements = 0;
  // By suite: the values of an axis, the first of them the usual one; fills and layouts, tried at the usual shape.
  std::map<std::string, std::map<std::string, std::vector<std::int64_t>>> axes{};
  std::map<std::string, std::vector<std::string>> fills{}, layouts{};
  ModelUse models{};
  Ranges random{};
};

struct Datasets {
  std::vector<Model> models;  // by file name
  Common common;
  std::map<std::string, Edges> edges;  // by op
};

// Throws BadInput, naming the file and the line or the JSON pointer.
Datasets load_datasets(const std::filesystem::path& folder);
// The text of one file; `file` is what messages call it.  A model and an op are named by the stems of their files.
Model parse_model(const std::string& text, const std::string& stem, const std::string& file);
Common parse_common(const std::string& text, const std::string& file);
Edges parse_edges(const std::string& text, const std::string& op, const std::string& file);

// That every name in the op's own file is one of the op's: its axes, attributes, fills.  Throws BadInput.
void check(const Edges&, const OpShape&);
// The same of every file, and that each belongs to an op.
void check(const Datasets&, std::span<const OpShape>);

// A figure by name: "hidden", "norm_epsilon", ...; "tokens" is none of them, for a model has several.
double figure(const Model&, std::string_view name);
const std::vector<std::string_view>& figure_names();

// smoke, edges, models, random, full, sanitize, watch, long, fixed, errors.
const std::vector<std::string_view>& suite_names();

}  // namespace assay
