// SPDX-License-Identifier: Apache-2.0
// A formula as data: what an op computes, as a graph of array operations on named axes.  An op's author writes it as array code
// (formula.hpp); evaluators read it (values.hpp, track.hpp).
//
// Each node is one array.  Its axes are a set: arrays broadcast and contract by the names of their axes, never by position.
// Elements are stored row-major in the order of the graph's axes, so that arrays with the same axes have the same layout.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/core/dtype.hpp"
#include "ops/core/formula_answers.hpp"
#include "reference/formula/kinds.hpp"

namespace assay::formula {

inline constexpr int kMostAxes = 32;
// Bit i: the graph's axis i.
using AxisSet = std::uint32_t;
inline AxisSet set_of(std::span<const int> axes) {
  AxisSet set = 0;
  for (const int axis : axes) set |= AxisSet{1} << axis;
  return set;
}

// Its axes, in the graph's order.
inline std::vector<int> list_of(AxisSet set) {
  std::vector<int> axes;
  for (; set; set &= set - 1) axes.push_back(std::countr_zero(set));
  return axes;
}

struct Node {
  Kind kind = Kind::constant;
  std::vector<int> arguments{};  // indices of earlier nodes
  AxisSet axes = 0;              // of the result
  AxisSet over = 0;              // the axes that a reduction sums, or along which another node works; of take the axis that it
                                 // takes from, of put those of its places
  double number = 0;             // of a constant; of cos_turn and sin_turn: the base, 0 if a frequency is given; of a scan: how
                                 // many states it has; of `given` and `result`: which of all
  std::string name{};            // of an input or a step; of `either`: of the second way, empty if any kernel may take it
  DType to = DType::f32;         // of rounded_to
  int body = -1;                 // of a scan: which of the graph's bodies is its step
  bool operator==(const Node&) const = default;
};

// A tensor of the op: an input, or an output and the node that computes it.
struct Port {
  std::string name{};
  std::vector<int> axes{};  // in the order of the tensor's shape, innermost last
  DType dtype = DType::f32;
  int node = 0;
  bool operator==(const Port&) const = default;
};

struct Graph {
  std::vector<std::string> axis_names;
  std::vector<std::int64_t> extents;  // of the axes
  std::vector<Node> nodes;            // arguments come before the nodes that use them
  std::vector<Port> inputs, outputs;
  // Steps of scans.  Their axes are this graph's.  `given` k of a step is state k before it, or from there on argument k of the
  // scan at the step's position.  Output k is state k after it, or what it puts out; `axes` of these ports are in the graph's
  // order.
  std::vector<Graph> bodies{};

  std::int64_t size(AxisSet axes) const {
    std::int64_t n = 1;
    for (std::size_t i = 0; i < extents.size(); ++i)
      if (axes >> i & 1) n *= extents[i];
    return n;
  }
  bool operator==(const Graph&) const = default;
};

// The graph with these outputs, and only the nodes that they need; inputs that none needs stay if asked for.
Graph only(const Graph& graph, std::vector<Port> outputs, bool all_inputs);

// The graph with one of the two ways wherever there is `either`: the second where second(node) says so, or where a declaration
// names it (Numerics::ways).
Graph decided(Graph graph, const std::function<bool(const Node&)>& second);
Graph decided(Graph graph, std::string_view ways);

// The graph as JSON, some hundreds of bytes, and back.  parse() throws FormulaError if the text is not a graph's.
std::string to_json(const Graph& g);
Graph parse(std::string_view json);

}  // namespace assay::formula
