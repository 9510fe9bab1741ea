// SPDX-License-Identifier: Apache-2.0
// Going through a graph's nodes, those of scans' steps too.
#pragma once

#include "reference/formula/graph.hpp"

namespace assay::formula {

// The axis to which `put` puts elements; none for other kinds.
inline AxisSet put_along(const Graph& graph, const Node& node) {
  return node.kind == Kind::put ? node.axes & ~graph.nodes[static_cast<std::size_t>(node.arguments[0])].axes : 0;
}

// The axes whose positions a node does not take one by one.
inline AxisSet works_along(const Graph& graph, const Node& node) { return node.over | put_along(graph, node); }

// A node of a graph or of a scan's body in it, and how often it is computed.
struct Visited {
  const Graph& graph;  // that it is in
  const Node& node;
  double times = 1;
};
// Calls visit(Visited) for all of them.
template <class Visit>
void each_node(const Graph& graph, Visit&& visit, double times = 1) {
  for (const Node& node : graph.nodes) {
    visit(Visited{graph, node, times});
    if (node.kind == Kind::scan)
      each_node(graph.bodies[static_cast<std::size_t>(node.body)], visit, times * static_cast<double>(graph.size(node.over)));
  }
}

}  // namespace assay::formula
