// SPDX-License-Identifier: Apache-2.0
#include "reference/formula/graph.hpp"

#include <algorithm>
#include <utility>

#include "ops/core/stored.hpp"

namespace assay::formula {

Graph decided(Graph graph, const std::function<bool(const Node&)>& second) {
  const auto chosen = [&](int i) {
    while (graph.nodes[static_cast<std::size_t>(i)].kind == Kind::either) {
      const Node& n = graph.nodes[static_cast<std::size_t>(i)];
      i = n.arguments[second(n) ? 1 : 0];
    }
    return i;
  };
  if (std::ranges::none_of(graph.nodes, [](const Node& n) { return n.kind == Kind::either; })) return graph;
  for (Node& n : graph.nodes)
    if (n.kind != Kind::either)
      for (int& argument : n.arguments) argument = chosen(argument);
  for (Port& p : graph.outputs) p.node = chosen(p.node);
  return only(graph, graph.outputs, true);
}

Graph decided(Graph graph, std::string_view ways) {
  return decided(std::move(graph), [ways](const Node& n) { return lists(ways, n.name); });
}

Graph only(const Graph& graph, std::vector<Port> outputs, bool all_inputs) {
  std::vector<bool> needed(graph.nodes.size(), false);
  for (const Port& p : outputs) needed[static_cast<std::size_t>(p.node)] = true;
  if (all_inputs)
    for (const Port& p : graph.inputs) needed[static_cast<std::size_t>(p.node)] = true;
  for (std::size_t i = graph.nodes.size(); i-- > 0;)
    if (needed[i])
      for (const int argument : graph.nodes[i].arguments) needed[static_cast<std::size_t>(argument)] = true;
  Graph g{.axis_names = graph.axis_names, .extents = graph.extents, .nodes = {}, .inputs = {}, .outputs = std::move(outputs)};
  std::vector<int> place(graph.nodes.size(), -1);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!needed[i]) continue;
    place[i] = static_cast<int>(g.nodes.size());
    Node& node = g.nodes.emplace_back(graph.nodes[i]);
    for (int& argument : node.arguments) argument = place[static_cast<std::size_t>(argument)];
    if (node.kind != Kind::scan) continue;
    g.bodies.push_back(graph.bodies[static_cast<std::size_t>(node.body)]);
    node.body = static_cast<int>(g.bodies.size()) - 1;
  }
  for (Port p : graph.inputs) {
    if (!needed[static_cast<std::size_t>(p.node)]) continue;
    p.node = place[static_cast<std::size_t>(p.node)];
    g.inputs.push_back(std::move(p));
  }
  for (Port& p : g.outputs) p.node = place[static_cast<std::size_t>(p.node)];
  return g;
}

}  // namespace assay::formula
