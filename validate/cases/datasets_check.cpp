// SPDX-License-Identifier: Apache-2.0
// Checks dataset files against the ops that they name.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "validate/base/error.hpp"
#include "validate/cases/datasets.hpp"

namespace assay {
namespace {

struct Checker {
  const OpShape& op;

  [[noreturn]] static void fail(const Place& at, std::string_view why) {
    throw BadInput(fmt::format("{}: {}: {}", at.file, at.pointer.empty() ? "/" : at.pointer, why));
  }
  const AxisUse* axis(std::string_view key) const {
    for (const AxisUse& use : op.axes)
      if (use.axis.name == key) return &use;
    return nullptr;
  }
  // Checks that every text is a value of the attribute.
  void values(const Place& at, std::string_view key, const std::vector<std::string>& texts) const {
    known(at, key);
    for (const std::string& text : texts) try {
        if (const Attribute* a = find_attribute(op, key)) value_of(*a, text);
      } catch (const BadInput& e) {
        fail(at, e.what());
      }
  }
  void known(const Place& at, std::string_view key) const {
    if (axis(key) || find_attribute(op, key)) return;
    Names names = axis_names(op);
    for (const auto& a : op.attributes) names.push_back(a.name);
    names.insert(names.end(), {"fill", "layout"});
    fail(at, unknown(fmt::format("key of {}", op.name), key, names));
  }
  void fills(const Place& at, const std::vector<std::string>& words) const {
    for (const std::string& word : words)
      if (!find_fill(op, word)) fail(at, unknown("fill", word, fill_names(op)));
  }
  void least(const Place& at, std::string_view key, std::int64_t extent) const {
    if (extent < axis(key)->least) fail(at, fmt::format("{}={}: {} needs at least {}.", key, extent, op.name, axis(key)->least));
  }
  template <class Map>
  void all_axes(const Place& at, const Map& given) const {
    for (const std::string_view axis : axis_names(op))
      if (!given.contains(std::string(axis))) fail(at, fmt::format("axis '{}' of {} is missing.", axis, op.name));
  }

  void is_axis(const Place& at, std::string_view key) const {
    if (!axis(key)) fail(at, unknown(fmt::format("axis of {}", op.name), key, axis_names(op)));
  }
  // An axis that only this op has, beside those of all ops, looks like an attribute.
  void not_axis(const Place& at, std::string_view key) const {
    if (axis(key)) fail(at, fmt::format("the axis '{}' belongs in 'own_axes'.", key));
  }

  void group(const Group& g) const {
    for (const auto& [key, texts] : g.attributes) {
      not_axis(g.place, key);
      values(g.place, key, texts);
    }
    for (const auto& [key, extents] : g.axes) {
      known(g.place, key);
      is_axis(g.place, key);
      for (const std::int64_t v : extents) least(g.place, key, v);
    }
    all_axes(g.place, g.axes);
    if (!g.blocks_along.empty()) is_axis(g.place, g.blocks_along);
    fills(g.place, g.fills);
    double product = 1;
    for (const auto& [key, extents] : g.axes) product *= static_cast<double>(extents.size());
    for (const auto& [key, texts] : g.attributes) product *= static_cast<double>(texts.size());
    product *= static_cast<double>(g.fills.size() * g.layouts.size());
    if (product > 1e5) fail(g.place, fmt::format("{} cases are more than 100000.", product));
  }
};

}  // namespace

bool suits(const Model& m, const ModelUse& use) {
  return std::all_of(use.needs.begin(), use.needs.end(), [&](const auto& need) {
    return std::find(need.second.begin(), need.second.end(), figure(m, need.first)) != need.second.end();
  });
}

void check(const Edges& e, const OpShape& op) {
  const Checker c{op};
  for (const Group& g : e.groups) c.group(g);
  if (e.random) {
    for (const auto& [key, texts] : e.random->attributes) {
      c.not_axis(e.random->place, key);
      c.values(e.random->place, key, texts);
    }
    for (const auto& [key, ends] : e.random->axes) {
      c.known(e.random->place, key);
      c.is_axis(e.random->place, key);
      c.least(e.random->place, key, ends[0]);
    }
    c.all_axes(e.random->place, e.random->axes);
    c.fills(e.random->place, e.random->fills);
  }
  for (const ModelUse& use : e.models) {
    for (const auto& [key, name] : use.figures) {
      c.known(use.place, key);
      if (c.axis(key) && !is_count(name)) Checker::fail(use.place, fmt::format("{}: '{}' is no extent.", key, name));
    }
    for (const auto& [key, text] : use.values) {
      c.values(use.place, key, {text});
      if (c.axis(key) && text.find_first_not_of("0123456789") != text.npos)
        Checker::fail(use.place, fmt::format("{}: {} is no extent.", key, text));
    }
    c.fills(use.place, {use.fill});
    for (const std::string_view axis : axis_names(op))
      if (!use.figures.contains(std::string(axis)) && !use.values.contains(std::string(axis)))
        Checker::fail(use.place, fmt::format("axis '{}' of {} is missing.", axis, op.name));
  }
}

namespace {

// Checks what all ops take of a model: each key is one of an op, unless some were left out, and each value is one of every op
// that has the key.
void check_common(const ModelUse& use, std::span<const OpShape> ops, bool all_ops) {
  const Names axes = axis_names();
  std::set<std::string_view> known(axes.begin(), axes.end());
  known.insert(kOtherAxis);
  for (const OpShape& op : ops) {
    for (const Attribute& a : op.attributes) known.insert(a.name);
    for (const auto& [key, text] : use.values)
      if (find_attribute(op, key)) Checker{op}.values(use.place, key, {text});
  }
  const auto look = [&](const std::string& key) {
    if (all_ops && !known.contains(key)) Checker::fail(use.place, unknown("key", key, Names(known.begin(), known.end())));
  };
  for (const auto& [key, figure] : use.figures) look(key);
  for (const auto& [key, text] : use.values) look(key);
}

}  // namespace

void check(const Datasets& d, std::span<const OpShape> ops, bool (*left_out)(std::string_view op)) {
  const auto is_left_out = [&](const auto& edges_of_op) { return left_out && left_out(edges_of_op.first); };
  check_common(d.common.models, ops, std::none_of(d.edges.begin(), d.edges.end(), is_left_out));
  for (const auto& [key, e] : d.edges) {
    const std::string& stem = key;  // Note: some compilers do not capture structured bindings
    const auto op = std::find_if(ops.begin(), ops.end(), [&](const OpShape& o) { return o.name == stem; });
    if (op == ops.end()) {
      if (left_out && left_out(stem)) continue;
      Names names;
      for (const OpShape& o : ops) names.push_back(o.name);
      Checker::fail(e.place, unknown("op", stem, names));
    }
    check(e, *op);
  }
}

}  // namespace assay
