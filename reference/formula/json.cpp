// SPDX-License-Identifier: Apache-2.0
// Graphs as JSON:
//   {"axes": [["rows", 5], ["cols", 7]], "inputs": [["x", "f16", [0, 1], 0]], "outputs": [["y", "f16", [0, 1], 3]],
//    "nodes": [{"kind": "input", "axes": [0, 1], "name": "x"}, {"kind": "square", "of": [0], "axes": [0, 1]}, ...]}
// A tensor is its name, its dtype, the axes of its shape and its node.  Numbers are written so that they read back exactly.
// A scan has its step with it: {"kind": "scan", ..., "number": 1, "body": {"nodes": [...], "outputs": [[[1], 4], ...]}}, where an
// output is its axes and its node.
#include <algorithm>
#include <bit>
#include <cmath>

#include <nlohmann/json.hpp>

#include "ops/core/stored.hpp"
#include "reference/formula/field.hpp"
#include "reference/formula/graph.hpp"
#include "reference/formula/visit.hpp"

namespace assay::formula {
namespace {

using Json = nlohmann::ordered_json;

Json ports_of(const std::vector<Port>& ports) {
  Json list = Json::array();
  for (const Port& p : ports) list.push_back({p.name, std::string(name(p.dtype)), p.axes, p.node});
  return list;
}

[[noreturn]] void refuse(const std::string& why) { throw FormulaError("not a formula's graph: " + why); }

class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}
  // Of a scan's step, which is given arrays with these axes.
  Reader(const Json& step, const Graph& outside, std::vector<AxisSet> given, int depth)
      : json_(step), given_(std::move(given)), depth_(depth) {
    if (depth > kMostDepth) refuse("scans in scans, more than " + std::to_string(kMostDepth) + " deep");
    graph_.axis_names = outside.axis_names;
    graph_.extents = outside.extents;
  }

  Graph read() {
    for (const Json& axis : json_.at("axes")) {
      graph_.axis_names.push_back(axis.at(0).get<std::string>());
      graph_.extents.push_back(axis.at(1).get<std::int64_t>());
      if (graph_.extents.back() < 0) refuse("the axis '" + graph_.axis_names.back() + "' has a negative extent");
    }
    if (graph_.axis_names.size() > kMostAxes) refuse("more than " + std::to_string(kMostAxes) + " axes");
    for (const Json& node : json_.at("nodes")) add(node);
    graph_.inputs = ports("inputs");
    graph_.outputs = ports("outputs");
    for (const Port& p : graph_.inputs)
      if (node(p.node).kind != Kind::input) refuse("the input '" + p.name + "' is another kind of node");
    return std::move(graph_);
  }

  Graph read_step() {
    for (const Json& node : json_.at("nodes")) add(node);
    for (const Json& json : json_.at("outputs")) {
      Port p{.node = json.at(1).get<int>()};
      for (const Json& number : json.at(0)) p.axes.push_back(axis(number));
      if (p.node < 0 || p.node >= static_cast<int>(graph_.nodes.size())) refuse("a step puts out a node that is not there");
      if (node(p.node).axes & ~set_of(p.axes)) refuse("a step puts out a node with other axes");
      if (node(p.node).kind == Kind::scan) refuse("a step puts out a scan and not its result");
      graph_.outputs.push_back(std::move(p));
    }
    return std::move(graph_);
  }

 private:
  const Node& node(int i) const { return graph_.nodes[static_cast<std::size_t>(i)]; }

  int axis(const Json& number) const {
    const int i = number.get<int>();
    if (i < 0 || i >= static_cast<int>(graph_.axis_names.size())) refuse("there is no axis " + std::to_string(i));
    return i;
  }
  AxisSet axes(const Json& list) const {
    AxisSet set = 0;
    for (const Json& number : list) set |= AxisSet{1} << axis(number);
    return set;
  }

  static double number(const Json& json) {
    if (!json.is_string()) return json.get<double>();
    const auto text = json.get<std::string>();
    if (text != "inf" && text != "-inf") refuse("'" + text + "' is no number");
    return text == "inf" ? kInfinity : -kInfinity;
  }

  static DType dtype(const std::string& word, const std::string& which) {
    const auto found = parse_dtype(word);
    if (!found) refuse(which + " has an unknown dtype");
    return *found;
  }

  // The axes of a result are what its arguments say; a text that says otherwise is refused, as evaluators rely on them.
  void add(const Json& json) {
    const auto word = json.at("kind").get<std::string>();
    const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const KindInfo& k) { return k.name == word; });
    if (kind == kKinds.end()) refuse("there is no kind '" + word + "'");
    Node node{.kind = static_cast<Kind>(kind - kKinds.begin())};
    const std::string which = "node " + std::to_string(graph_.nodes.size()) + " (" + word + ")";
    node.axes = axes(json.at("axes"));
    if (json.contains("of")) node.arguments = json.at("of").get<std::vector<int>>();
    if (json.contains("over")) node.over = axes(json.at("over"));
    if (json.contains("number")) node.number = number(json.at("number"));
    if (json.contains("name")) node.name = json.at("name").get<std::string>();
    const bool is_named =
        node.kind == Kind::step ? is_step_name(node.name) : node.kind != Kind::either || node.name.empty() || is_name(node.name);
    if (!is_named) refuse(which + " has a name that no declaration can have");
    if (json.contains("to")) node.to = dtype(json.at("to").get<std::string>(), which);
    if (kind->arguments >= 0 && static_cast<int>(node.arguments.size()) != kind->arguments)
      refuse(which + " has another number of arguments");
    AxisSet given = 0;
    for (const int argument : node.arguments) {
      if (argument < 0 || argument >= static_cast<int>(graph_.nodes.size())) refuse(which + " uses a node that is not before it");
      given |= this->node(argument).axes;
      if (this->node(argument).kind == Kind::scan && node.kind != Kind::result)
        refuse(which + " is of a scan and not of its result");
    }
    if (node.kind == Kind::input && !given_.empty()) refuse(which + " is in a step");
    if (node.kind == Kind::given || kind->group == Group::recurrence) return add_of_scan(std::move(node), json, which);
    if (node.kind == Kind::put) return add_put(std::move(node), which);
    const bool gathers = kind->group == Group::gather;
    const bool folds = kind->group == Group::reduction || kind->group == Group::row_function || gathers;
    const AxisSet foldable = gathers ? this->node(node.arguments[0]).axes : given;
    if ((node.over != 0) != folds || (node.over & ~foldable)) refuse(which + " is over other axes");
    if ((gathers || node.kind == Kind::index) && !std::has_single_bit(gathers ? node.over : node.axes))
      refuse(which + " is not along one axis");
    AxisSet expected = kind->group == Group::reduction ? given & ~node.over : given;
    if (gathers) expected = (foldable & ~node.over) | this->node(node.arguments[1]).axes;
    const bool own_axes = node.kind == Kind::input || node.kind == Kind::index;
    if (!own_axes && node.axes != expected) refuse(which + " has other axes than its arguments");
    graph_.nodes.push_back(std::move(node));
  }

  void add_put(Node node, const std::string& which) {
    const AxisSet own = this->node(node.arguments[0]).axes, places = this->node(node.arguments[1]).axes;
    if (node.over == 0 || node.over != places) refuse(which + " is over other axes than its places have");
    const AxisSet kept = own & ~places, to = node.axes & ~kept;
    if ((node.axes & kept) != kept || !std::has_single_bit(to) || (to & (own | places)))
      refuse(which + " has other axes than its arguments, and one to which it puts them");
    graph_.nodes.push_back(std::move(node));
  }

  // A scan and its results, or what a step of it is given.
  void add_of_scan(Node node, const Json& json, const std::string& which) {
    const auto number = [&](std::size_t count) {
      if (!(node.number >= 0 && node.number < static_cast<double>(count)) || std::floor(node.number) != node.number)
        refuse(which + " has the number of none");
      return static_cast<std::size_t>(node.number);
    };
    if (node.over && node.kind != Kind::scan) refuse(which + " is over other axes");
    AxisSet expected = 0;
    if (node.kind == Kind::given) {
      expected = given_.at(number(given_.size()));
    } else if (node.kind == Kind::result) {
      const Node& scan = this->node(node.arguments[0]);
      if (scan.kind != Kind::scan) refuse(which + " is of no scan");
      const std::vector<Port>& results = graph_.bodies[static_cast<std::size_t>(scan.body)].outputs;
      const std::size_t which_of_all = number(results.size());
      expected = set_of(results[which_of_all].axes) | (node.number < scan.number ? 0 : scan.over);
    } else {
      if (!std::has_single_bit(node.over)) refuse(which + " is not along one axis");
      const std::size_t states = number(node.arguments.size() + 1);
      const Json& step = json.at("body");
      // A state's axes are those that the step puts out.
      std::vector<AxisSet> given;
      for (std::size_t k = 0; k < node.arguments.size(); ++k) {
        const AxisSet own = this->node(node.arguments[k]).axes;
        given.push_back(k < states ? axes(step.at("outputs").at(k).at(0)) : own & ~node.over);
        if (k < states && (own & ~given.back())) refuse(which + " has a state with other axes than its first");
      }
      Graph body = Reader(step, graph_, std::move(given), depth_ + 1).read_step();
      each_node(body, [&](const Visited& v) {
        if ((v.node.axes | v.node.over) & node.over) refuse(which + " has a step along its own axis");
      });
      if (states == 0 || body.outputs.size() < states) refuse(which + " has no states");
      for (const Port& p : body.outputs) expected |= set_of(p.axes);
      if (expected & node.over) refuse(which + " has a step along its own axis");
      node.body = static_cast<int>(graph_.bodies.size());
      graph_.bodies.push_back(std::move(body));
    }
    if (node.axes != expected) refuse(which + " has other axes than what it is made of");
    graph_.nodes.push_back(std::move(node));
  }

  std::vector<Port> ports(const char* key) const {
    std::vector<Port> list;
    for (const Json& json : json_.at(key)) {
      Port p{.name = json.at(0).get<std::string>()};
      p.dtype = dtype(json.at(1).get<std::string>(), "the tensor '" + p.name + "'");
      for (const Json& number : json.at(2)) p.axes.push_back(axis(number));
      p.node = json.at(3).get<int>();
      if (p.node < 0 || p.node >= static_cast<int>(graph_.nodes.size())) refuse("the tensor '" + p.name + "' has no node");
      if (node(p.node).axes != set_of(p.axes)) refuse("the tensor '" + p.name + "' has other axes than its node");
      if (node(p.node).kind == Kind::scan) refuse("the tensor '" + p.name + "' is of a scan and not of its result");
      list.push_back(std::move(p));
    }
    return list;
  }

  static constexpr int kMostDepth = 16;

  const Json& json_;
  std::vector<AxisSet> given_;  // of a step: the axes of what it is given
  int depth_ = 0;               // of a step: of how many scans it is
  Graph graph_;
};

Json nodes_of(const Graph& g);

Json node_of(const Graph& g, const Node& n) {
  Json node = {{"kind", std::string(info(n.kind).name)}};
  if (!n.arguments.empty()) node["of"] = n.arguments;
  node["axes"] = list_of(n.axes);
  if (n.over) node["over"] = list_of(n.over);
  const bool turns = n.kind == Kind::cos_turn || n.kind == Kind::sin_turn;
  if (turns || (n.kind == Kind::constant && std::isfinite(n.number))) node["number"] = n.number;
  if (n.kind == Kind::constant && std::isinf(n.number))
    node["number"] = n.number > 0 ? "inf" : "-inf";  // which JSON's numbers lack
  if (!n.name.empty()) node["name"] = n.name;
  if (n.kind == Kind::rounded_to) node["to"] = std::string(name(n.to));
  if (n.kind == Kind::given || info(n.kind).group == Group::recurrence) node["number"] = n.number;
  if (n.kind == Kind::scan) {
    const Graph& body = g.bodies[static_cast<std::size_t>(n.body)];
    node["body"] = {{"nodes", nodes_of(body)}, {"outputs", Json::array()}};
    for (const Port& p : body.outputs) node["body"]["outputs"].push_back({p.axes, p.node});
  }
  return node;
}

Json nodes_of(const Graph& g) {
  Json nodes = Json::array();
  for (const Node& n : g.nodes) nodes.push_back(node_of(g, n));
  return nodes;
}

}  // namespace

std::string to_json(const Graph& g) {
  Json json = {{"axes", Json::array()}, {"inputs", ports_of(g.inputs)}, {"outputs", ports_of(g.outputs)}, {"nodes", nodes_of(g)}};
  for (std::size_t i = 0; i < g.axis_names.size(); ++i) json["axes"].push_back({g.axis_names[i], g.extents[i]});
  return json.dump();
}

Graph parse(std::string_view json) {
  try {
    const Json root = Json::parse(json);
    return Reader(root).read();
  } catch (const nlohmann::json::exception& e) {
    refuse(e.what());
  }
}

}  // namespace assay::formula
