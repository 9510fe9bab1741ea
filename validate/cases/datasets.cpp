// SPDX-License-Identifier: Apache-2.0
#include "validate/cases/datasets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "validate/base/error.hpp"
#include "validate/cases/case.hpp"
#include "validate/cases/json_node.hpp"
#include "validate/values/layout.hpp"

namespace assay {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

using Node = JsonNode<Json>;

std::vector<fs::path> files(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".json") out.push_back(entry.path());
  if (error) throw BadInput(fmt::format("{}: not a folder of datasets.", folder.string()));
  std::sort(out.begin(), out.end());
  return out;
}

void read_rope(const Node& n, Model& m) {
  n.object({"theta", "pairs", "rotary_dim", "scaling"});
  m.rope = n.at("pairs").one_of("pairs", {"half", "interleaved"});
  m.rope_theta = n.at("theta").positive();
  m.rotary_dim = n.has("rotary_dim") ? n.at("rotary_dim").integer(2) : m.head_dim / 2 * 2;
  if (m.rotary_dim > m.head_dim) n.at("rotary_dim").fail("more than head_dim.");
  if (n.has("scaling")) m.scaling = n.at("scaling").one_of("scaling", {"llama3"});
}

void read_attention(const Node& n, Model& m) {
  n.object({"window", "softcap", "query_pre_attn_scalar"});
  if (n.has("window")) m.window = n.at("window").integer(1);
  if (n.has("softcap")) m.softcap = n.at("softcap").positive();
  if (n.has("query_pre_attn_scalar")) m.query_pre_attn_scalar = n.at("query_pre_attn_scalar").positive();
}

// Note: each key must change what a case computes; whatever else is known of a model belongs in its note.
Model model(const Node& n, std::string stem) {
  n.object({"name", "source", "note", "dialect", "hidden", "ffn", "heads", "kv_heads", "head_dim", "norm", "activation", "biases",
            "rope", "attention", "tokens", "smoke"});
  Model m{.stem = std::move(stem), .name = n.at("name").text(), .source = n.at("source").text()};
  if (n.has("note")) m.note = n.at("note").text();
  m.hidden = n.at("hidden").integer(1);
  m.ffn = n.at("ffn").integer(1);
  m.heads = n.at("heads").integer(1);
  m.kv_heads = n.at("kv_heads").integer(1);
  if (m.heads % m.kv_heads) n.at("kv_heads").fail(fmt::format("{} does not divide {} heads.", m.kv_heads, m.heads));
  m.head_dim = n.at("head_dim").integer(1);
  if (m.head_dim > kMostExtent / m.heads) n.at("head_dim").fail("heads x head_dim is more than 2^40.");
  const Node norm = n.at("norm").object({"kind", "epsilon"});
  m.norm = norm.at("kind").one_of("norm", figure_words("norm"));
  m.norm_epsilon = norm.at("epsilon").positive();
  m.activation = n.at("activation").one_of("activation", figure_words("activation"));
  if (n.has("biases"))
    for (const std::string& product : n.at("biases").texts("product", bias_words())) m.biases.insert(product);
  if (n.has("rope")) read_rope(n.at("rope"), m);
  if (n.has("attention")) read_attention(n.at("attention"), m);
  if (n.has("dialect")) {
    m.dialect = n.at("dialect").one_of("dialect", {"llama", "gpt2", "gptneox"});
    if (const std::string what = missing_of_dialect(m, m.dialect); !what.empty())
      n.at("dialect").fail(fmt::format("{} has {}.", m.dialect, what));
  }
  m.tokens = n.at("tokens").integers(1);
  if (n.has("smoke")) m.smoke = n.at("smoke").flag();
  return m;
}

std::array<std::int64_t, 2> range(const Node& n) {
  const std::vector<std::int64_t> ends = n.integers(0);
  if (ends.size() != 2 || ends[0] > ends[1]) n.fail("expected [first, last].");
  return {ends[0], ends[1]};
}

// Fills in an op's own file are checked later, against the op.
const Names kAnyFill{};
Names common_fill_names() { return fill_names(OpShape{}); }
// The axes of edges/common.json.
Names common_axes() {
  Names names = axis_names();
  names.push_back(kOtherAxis);
  return names;
}
bool is_axis(std::string_view key) {
  const Names names = common_axes();
  return std::find(names.begin(), names.end(), key) != names.end();
}

Group group(const Node& n) {
  Group g{.place = n.place,
          .suites = n.at("suites").texts("suite", {"smoke", "edges", "sanitize", "watch", "long", "fixed", "errors"})};
  n.each_key([&](const std::string& key, const Node& value) {
    if (key == "suites") return;
    if (key == "shows") value.text();
    else if (key == "fill") g.fills = value.texts("fill", kAnyFill);
    else if (key == "layout") g.layouts = value.texts("layout", layout_names());
    else if (key == "dtype")
      for (const std::string& t : value.texts("dtype", dtype_names())) g.dtypes.push_back(*parse_dtype(t));
    else if (key == "blocks_along") g.blocks_along = value.text();
    else if (key == "own_axes") value.each_key([&](const std::string& axis, const Node& own) { g.axes[axis] = own.integers(0); });
    else if (is_axis(key)) g.axes[key] = value.integers(0);
    else g.attributes[key] = value.values();
  });
  return g;
}

Ranges ranges(const Node& n, const Names& fills) {
  Ranges r{.place = n.place};
  r.most_elements = n.at("most_elements").integer(1);
  n.each_key([&](const std::string& key, const Node& value) {
    if (key == "most_elements") return;
    if (key == "fill") r.fills = value.texts("fill", fills);
    else if (key == "layout") r.layouts = value.texts("layout", layout_names());
    else if (key == "own_axes") value.each_key([&](const std::string& axis, const Node& own) { r.axes[axis] = range(own); });
    else if (is_axis(key)) r.axes[key] = range(value);
    else r.attributes[key] = value.values();
  });
  return r;
}

// The name of a figure; an axis takes only counts.
std::string figure_for(const std::string& key, const Node& n) {
  std::string name = n.one_of("figure of a model", figure_names());
  if (is_axis(key) && !is_count(name)) n.fail(fmt::format("'{}' is no extent.", name));
  return name;
}
void read_needs(const Node& n, ModelUse& use) {
  n.each_key([&](const std::string& key, const Node& allowed) {
    const Names known(figure_names().begin() + 1, figure_names().end());  // without "tokens"
    if (std::find(known.begin(), known.end(), key) == known.end()) n.fail(unknown("figure of a model", key, known));
    const Names& words = figure_words(key);
    use.needs[key] = words.empty() ? allowed.values() : allowed.texts(key, words);
  });
}
ModelUse model_use(const Node& n) {
  ModelUse use{.place = n.place};
  n.each_key([&](const std::string& key, const Node& value) {
    if (key == "fill") use.fill = value.text();
    else if (key == "needs") read_needs(value, use);
    else if (key == "why") value.text();
    else if (value.json.is_number()) use.values[key] = is_axis(key) ? std::to_string(value.integer(0)) : value.json.dump();
    else if (is_axis(key) || std::count(figure_names().begin(), figure_names().end(), value.text()))
      use.figures[key] = figure_for(key, value);
    else use.values[key] = value.text();
  });
  if (n.has("needs") != n.has("why")) n.fail("'needs' and 'why', the reason for it, go together.");
  return use;
}

Edges edges(const Node& n, std::string op) {
  n.object({"models", "groups", "random"});
  Edges e{.op = std::move(op), .place = n.place};
  if (n.has("models") && n.at("models").json.is_array())
    for (const Node& use : n.at("models").list()) e.models.push_back(model_use(use));
  else if (n.has("models")) e.models = {model_use(n.at("models"))};
  if (n.has("groups"))
    for (const Node& g : n.at("groups").list()) e.groups.push_back(group(g));
  if (n.has("random")) e.random = ranges(n.at("random"), kAnyFill);
  return e;
}

Common common(const Node& n) {
  n.object({"smoke_tokens", "smoke_fills", "most_elements", "axes", "layout", "combined", "extents", "counted", "long", "models",
            "random"});
  const Names suites{"smoke", "edges", "sanitize", "watch", "fixed"},
      shapes{"smoke", "edges", "sanitize", "watch", "fixed", "alone"};
  Common c{.place = n.place, .smoke_tokens = n.at("smoke_tokens").integer(1), .most_elements = n.at("most_elements").integer(1)};
  c.smoke_fills = n.at("smoke_fills").texts("fill", common_fill_names());
  n.at("axes").object(shapes);
  n.at("layout").object(suites);
  for (const std::string_view shape : shapes) {
    const Node values = n.at("axes").at(shape).object(common_axes());
    for (const std::string_view axis : common_axes()) c.axes[std::string(shape)][std::string(axis)] = values.at(axis).integers(0);
  }
  for (const std::string_view suite : suites)
    c.layouts[std::string(suite)] = n.at("layout").at(suite).texts("layout", layout_names());
  const Node combined = n.at("combined").object(common_axes());
  for (const std::string_view axis : common_axes()) c.combined[std::string(axis)] = combined.at(axis).integers(0);
  c.extents = n.at("extents").integers(0);
  const Node longer = n.at("long").object(common_axes()), counted = n.at("counted").object(common_axes());
  for (const std::string_view axis : common_axes()) {
    if (longer.has(axis)) c.longer[std::string(axis)] = longer.at(axis).integer(1);
    if (counted.has(axis)) c.counted[std::string(axis)] = counted.at(axis).integer(1);
  }
  c.models = model_use(n.at("models"));
  c.random = ranges(n.at("random"), common_fill_names());
  if (n.at("random").has("own_axes")) n.at("random").at("own_axes").fail("only the file of an op has it.");
  for (const std::string_view axis : common_axes())
    if (!c.random.axes.contains(std::string(axis))) n.at("random").fail(fmt::format("'{}' is missing.", axis));
  return c;
}

}  // namespace

const std::vector<std::string_view>& suite_names() {
  static const std::vector<std::string_view> names{"first", "smoke",    "edges", "models", "random", "full",
                                                   "watch", "sanitize", "long",  "fixed",  "errors"};
  return names;
}

Model parse_model(const std::string& text, const std::string& stem, const std::string& file) {
  const Json json = parse_json<Json>(text, file);
  return model(Node{json, {file, ""}}, stem);
}
Common parse_common(const std::string& text, const std::string& file) {
  const Json json = parse_json<Json>(text, file);
  return common(Node{json, {file, ""}});
}
Edges parse_edges(const std::string& text, const std::string& op, const std::string& file) {
  const Json json = parse_json<Json>(text, file);
  return edges(Node{json, {file, ""}}, op);
}

bool has_datasets(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / kCommonEdges, error);
}

Datasets load_datasets(const fs::path& folder) {
  Datasets d;
  for (const fs::path& path : files(folder / "models"))
    d.models.push_back(parse_model(json_text(path), path.stem().string(), path.string()));
  bool has_common = false;
  for (const fs::path& path : files(folder / "edges")) {
    const std::string stem = path.stem().string();
    if (stem == "common") {
      d.common = parse_common(json_text(path), path.string());
      has_common = true;
    } else d.edges[stem] = parse_edges(json_text(path), stem, path.string());
  }
  if (!has_common) throw BadInput(fmt::format("{}: is missing.", (folder / kCommonEdges).string()));
  return d;
}

}  // namespace assay
