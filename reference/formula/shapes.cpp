// SPDX-License-Identifier: Apache-2.0
#include "reference/formula/shapes.hpp"

#include <omp.h>

#include <algorithm>

#include "reference/formula/answers.hpp"
#include "reference/formula/evaluate.hpp"
#include "reference/formula/visit.hpp"
#include "reference/formula/words.hpp"

namespace assay::formula {
namespace {

bool is_leaf(const Node& node) { return info(node.kind).group == Group::leaf; }

double bytes_of(const Graph& g, AxisSet axes, DType t) { return static_cast<double>(g.size(axes) * size_of(t)); }

// Bytes of an input that a kernel has to read.
double bytes_read(const Graph& g, const Port& input) {
  const double all = bytes_of(g, set_of(input.axes), input.dtype);
  double taken = 0;
  for (const Node& node : g.nodes) {
    const auto uses = std::ranges::count(node.arguments, input.node);
    if (uses == 0) continue;
    if (node.kind != Kind::take || uses > 1 || node.arguments[0] != input.node) return all;
    taken += bytes_of(g, node.axes, input.dtype);
  }
  return std::min(all, taken);
}

Cost cost_of(const Graph& g) {
  Cost cost;
  for (const Port& p : g.inputs) cost.bytes_read += bytes_read(g, p);
  for (const Port& p : g.outputs) cost.bytes_written += bytes_of(g, set_of(p.axes), p.dtype);
  const DType storage = g.outputs.front().dtype;
  each_node(g, [&](const Visited& v) {
    const bool computes = !is_leaf(v.node) && info(v.node.kind).group != Group::recurrence;
    if (!computes || v.node.kind == Kind::step || v.node.kind == Kind::rounded_to) return;
    cost.flops += v.times * info(v.node.kind).flops * static_cast<double>(g.size(v.node.axes | v.node.over));
    cost.unfused_bytes += v.times * bytes_of(g, v.node.axes, storage);
    for (const int argument : v.node.arguments) {
      const Node& from = v.graph.nodes[static_cast<std::size_t>(argument)];
      if (from.kind != Kind::constant && from.kind != Kind::index)
        cost.unfused_bytes += v.times * bytes_of(g, from.axes, storage);
    }
  });
  cost.unfused_bytes = std::max(cost.unfused_bytes, cost.bytes());
  return cost;
}

bool adds_up(Kind k) {
  return k == Kind::sum || k == Kind::dot || k == Kind::softmax || k == Kind::softmax_or_zero || k == Kind::logsumexp ||
         k == Kind::log_softmax;
}

bool is_sum_or_product(Kind k) {
  switch (k) {
    case Kind::input:
    case Kind::add:
    case Kind::subtract:
    case Kind::multiply:
    case Kind::square:
    case Kind::negate:
    case Kind::sum:
    case Kind::dot:
    case Kind::step: return true;
    default: return false;
  }
}

// What the graph does along its axes, as sets of them.
struct Along {
  AxisSet summed = 0, recurrent = 0;
  explicit Along(const Graph& g) {
    each_node(g, [this](const Visited& v) {
      const Node& node = v.node;
      if (adds_up(node.kind)) summed |= node.over;
      if (node.kind == Kind::scan) recurrent |= node.over;
    });
  }
};

// The input that an output's last operation adds to each of its rows, as a bias: it has the output's last axes alone.
std::string last_addend_of(const Graph& g, const Port& output) {
  const Node& last = g.nodes[static_cast<std::size_t>(output.node)];
  if (last.kind != Kind::add) return {};
  for (const int argument : last.arguments) {
    const Node& node = g.nodes[static_cast<std::size_t>(argument)];
    if (node.kind != Kind::input) continue;
    for (const Port& input : g.inputs) {
      const std::size_t rank = input.axes.size();
      const bool ends =
          rank > 0 && rank < output.axes.size() && std::ranges::equal(input.axes, std::span(output.axes).last(rank));
      if (input.node == argument && ends) return input.name;
    }
  }
  return {};
}

}  // namespace

FormulaFacts facts_of(const Graph& graph, std::span<const AxisUse> axes) {
  const Graph g = decided(graph, "");
  FormulaFacts facts{.cost = cost_of(g), .steps = steps_of(graph), .ways = ways_of(graph)};
  const Along along(only(g, {g.outputs.front()}, true));
  const auto is_contracts = [&](const std::string& name) {
    return std::ranges::any_of(axes, [&](const AxisUse& use) { return use.axis.name == name; });
  };
  for (std::size_t i = 0; i < g.axis_names.size(); ++i) {
    const std::string& axis = g.axis_names[i];
    if (!is_contracts(axis)) continue;
    const auto in = [&](AxisSet set) { return (set >> i & 1) != 0; };
    if (in(along.summed)) facts.summed.push_back(axis);
    if (in(along.recurrent)) facts.recurrent.push_back(axis);
  }
  facts.only_sums = std::ranges::all_of(g.nodes, [](const Node& n) { return is_sum_or_product(n.kind); });
  facts.last_addend = last_addend_of(g, g.outputs.front());
  return facts;
}

namespace {
constexpr double kArrays = 8;  // of f64 for a node, at most: its value, its errors, and what is computed of these

// Elements of f64 that a node takes where `without` axes are cut.
double elements_of(const Graph& g, const Node& n, AxisSet without) {
  const auto size = [&](AxisSet axes) { return static_cast<double>(g.size(axes & ~without)); };
  const auto multiplies = [&](const Node& user) {
    return user.kind == Kind::dot &&
           std::ranges::any_of(user.arguments, [&](int a) { return &g.nodes[static_cast<std::size_t>(a)] == &n; });
  };
  const double of_factor = std::ranges::any_of(g.nodes, multiplies) ? 2 : 0;  // |x| and x^2
  switch (info(n.kind).group) {
    case Group::leaf: {
      double places = 0;  // where an input's elements lie along each axis
      for (const int axis : list_of(n.axes & ~without)) places += static_cast<double>(g.extents[static_cast<std::size_t>(axis)]);
      return (1 + of_factor) * size(n.axes) + places;
    }
    case Group::arithmetic: return (5 + of_factor) * size(n.axes);  // value, two errors and their sum, one on the way
    case Group::row_function: return kArrays * size(n.axes);
    case Group::reduction:  // of rows: distances from the maximum, exps, weights
      return kArrays * size(n.axes) + (n.kind == Kind::logsumexp ? 4 * size(n.axes | n.over) : 0);
    default: return kArrays * size(n.axes);
  }
}

// Bytes of evaluating what is evaluated together.
double bytes_of_parts(const Graph& g) {
  const std::vector<int> cut = cut_axes(g);
  double own = 0, shared = 0;           // elements of arrays that have the last of these axes, and of others
  each_node(g, [&](const Visited& v) {  // of scans one step
    const bool has_last = !cut.empty() && (v.node.axes >> cut.back() & 1);
    (has_last ? own : shared) += elements_of(v.graph, v.node, set_of(cut));
  });
  if (cut.empty()) return 8 * shared;
  const std::int64_t extent = g.extents[static_cast<std::size_t>(cut.back())];
  const std::int64_t positions = std::max<std::int64_t>(1, std::min(positions_of_part(g, cut), extent));
  const std::int64_t parts = (extent + positions - 1) / positions;  // that share what is shared
  const std::int64_t groups = g.size(set_of(cut)) / std::max<std::int64_t>(1, extent);
  const auto at_once = [](std::int64_t most) { return static_cast<double>(std::min<std::int64_t>(omp_get_max_threads(), most)); };
  return 8 * (at_once(parts * groups) * static_cast<double>(positions) * own + at_once(groups) * shared);
}
}  // namespace

SolveMemory memory_of(const Graph& g, const Rows& rows) {
  double outputs = 0, whole = 0;
  for (const Port& p : g.outputs) outputs += static_cast<double>(g.size(set_of(p.axes)));
  each_node(g, [&](const Visited& v) { whole += static_cast<double>(g.size(v.node.axes)); });
  if (outputs == 0) return {};
  const double share = rows.all() || rows.total == 0 ? 1 : static_cast<double>(rows.count()) / static_cast<double>(rows.total);
  constexpr double kSolutions = 3;  // values, and bounds for two kinds of errors
  SolveMemory memory{.kept = 8 * kSolutions * outputs * share};
  for (const Together& group : groups_of(g)) memory.passing = std::max(memory.passing, bytes_of_parts(group.graph));
  if (whole <= static_cast<double>(kMostKept)) memory.kept += 8 * kArrays / 2 * whole * share;
  return memory;
}

}  // namespace assay::formula
