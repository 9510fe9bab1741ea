// SPDX-License-Identifier: Apache-2.0
// Records formulas (formula.hpp).
#include <algorithm>
#include <map>
#include <span>

#include "ops/core/stored.hpp"
#include "reference/formula/formula.hpp"

namespace assay::formula {
namespace {

[[noreturn]] void refuse(const Place& place, const std::string& why) {
  throw FormulaError(std::string(place.file_name()) + ":" + std::to_string(place.line()) + ": " + why);
}

std::string list(const Graph& g, AxisSet axes) {
  std::string text;
  for (std::size_t i = 0; i < g.axis_names.size(); ++i)
    if (axes >> i & 1) text += (text.empty() ? "" : ", ") + g.axis_names[i];
  return text.empty() ? "no axes" : text;
}

Formula& formula_of(const Operand& a, const Operand& b) {
  if (!a.formula && !b.formula) refuse(a.place, "an operation on two numbers; compute it outside of the formula");
  if (a.formula && b.formula && a.formula != b.formula) refuse(a.place, "its operands belong to two formulas");
  return a.formula ? *a.formula : *b.formula;
}
Formula& formula_of(const Operand& a) { return formula_of(a, a); }

Array unary(Kind kind, const Operand& a) {
  Formula& f = formula_of(a);
  const int of = f.node_of(a);
  return f.add({.kind = kind, .arguments = {of}, .axes = f.node(of).axes});
}
Array binary(Kind kind, const Operand& a, const Operand& b) {
  Formula& f = formula_of(a, b);
  const int left = f.node_of(a), right = f.node_of(b);
  if (kind == Kind::divide && f.node(right).kind == Kind::constant && f.node(right).number == 0)
    refuse(a.place, "a division by 0");
  return f.add({.kind = kind, .arguments = {left, right}, .axes = f.node(left).axes | f.node(right).axes});
}

}  // namespace

Array operator+(const Operand& a, const Operand& b) { return binary(Kind::add, a, b); }
Array operator-(const Operand& a, const Operand& b) { return binary(Kind::subtract, a, b); }
Array operator*(const Operand& a, const Operand& b) { return binary(Kind::multiply, a, b); }
Array operator/(const Operand& a, const Operand& b) { return binary(Kind::divide, a, b); }
Array operator-(const Operand& a) { return unary(Kind::negate, a); }
Array maximum(const Operand& a, const Operand& b) { return binary(Kind::maximum, a, b); }
Array minimum(const Operand& a, const Operand& b) { return binary(Kind::minimum, a, b); }
Array square(const Operand& a) { return unary(Kind::square, a); }
Array absolute(const Operand& a) { return unary(Kind::absolute, a); }
Array round(const Operand& a) { return unary(Kind::round, a); }
Array floor(const Operand& a) { return unary(Kind::floor, a); }
Array ceil(const Operand& a) { return unary(Kind::ceil, a); }
Array pow2_floor(const Operand& a) { return unary(Kind::pow2_floor, a); }
Array pow2_ceil(const Operand& a) { return unary(Kind::pow2_ceil, a); }
Array exp(const Operand& a) { return unary(Kind::exp, a); }
Array log(const Operand& a) { return unary(Kind::log, a); }
Array tanh(const Operand& a) { return unary(Kind::tanh, a); }
Array erf(const Operand& a) { return unary(Kind::erf, a); }
Array sigmoid(const Operand& a) { return unary(Kind::sigmoid, a); }
Array softplus(const Operand& a) { return unary(Kind::softplus, a); }
Array silu(const Operand& a) { return unary(Kind::silu, a); }
Array gelu_tanh(const Operand& a) { return unary(Kind::gelu_tanh, a); }
Array gelu_erf(const Operand& a) { return unary(Kind::gelu_erf, a); }
Array sqrt(const Operand& a) { return unary(Kind::sqrt, a); }
Array rsqrt(const Operand& a) { return unary(Kind::rsqrt, a); }

namespace {
Array turn(Kind kind, const Operand& position, const Operand& above, const Operand& below, double base) {
  Formula& f = formula_of(position, above);
  formula_of(position, below);
  const int angle[] = {f.node_of(position), f.node_of(above), f.node_of(below)};
  Node node{.kind = kind, .number = base};
  for (const int part : angle) {
    node.arguments.push_back(part);
    node.axes |= f.node(part).axes;
  }
  return f.add(std::move(node));
}
double checked_base(const Operand& position, double base) {
  if (!(base > 0)) refuse(position.place, "the base of an angle is not above 0");
  return base;
}
}  // namespace
Array cos_turn(const Operand& position, const Operand& above, const Operand& below, double base) {
  return turn(Kind::cos_turn, position, above, below, checked_base(position, base));
}
Array sin_turn(const Operand& position, const Operand& above, const Operand& below, double base) {
  return turn(Kind::sin_turn, position, above, below, checked_base(position, base));
}
Array cos_turn(const Operand& position, const Operand& frequency) { return turn(Kind::cos_turn, position, frequency, 1, 0); }
Array sin_turn(const Operand& position, const Operand& frequency) { return turn(Kind::sin_turn, position, frequency, 1, 0); }
Array quotient(const Operand& a, const Operand& b) { return binary(Kind::quotient, a, b); }
Array operator<(const Operand& a, const Operand& b) { return binary(Kind::less, a, b); }
Array operator<=(const Operand& a, const Operand& b) { return binary(Kind::at_most, a, b); }
Array operator&&(const Operand& a, const Operand& b) { return binary(Kind::minimum, a, b); }

Array where(const Operand& condition, const Operand& a, const Operand& b) {
  Formula& f = formula_of(condition, a);
  formula_of(condition, b);
  const int holds = f.node_of(condition), chosen = f.node_of(a), other = f.node_of(b);
  return f.add({.kind = Kind::where,
                .arguments = {holds, chosen, other},
                .axes = f.node(holds).axes | f.node(chosen).axes | f.node(other).axes});
}

Array take(const Array& a, Axis axis, const Array& indices, Place place) {
  Formula& f = formula_of(Operand(a, place), Operand(indices, place));
  const AxisSet along = AxisSet{1} << f.axis(axis.name, place), axes = f.node(a.node()).axes, more = f.node(indices.node()).axes;
  if (!(axes & along)) refuse(place, "the array has no axis '" + std::string(axis.name) + "', only " + list(f.recorded(), axes));
  return f.add({.kind = Kind::take, .arguments = {a.node(), indices.node()}, .axes = (axes & ~along) | more, .over = along});
}

Array put(const Operand& a, Axis axis, const Array& indices, Place place) {
  Formula& f = formula_of(a, Operand(indices, place));
  const int of = f.node_of(a);
  const AxisSet to = AxisSet{1} << f.axis(axis.name, place), over = f.node(indices.node()).axes, axes = f.node(of).axes;
  if ((axes | over) & to) refuse(place, "an array or its places have the axis '" + std::string(axis.name) + "' already");
  if (!over) refuse(place, "the places have no axis");
  return f.add({.kind = Kind::put, .arguments = {of, indices.node()}, .axes = (axes & ~over) | to, .over = over});
}

Array step(std::string_view name, const Operand& a) {
  if (!is_step_name(name))
    refuse(a.place, "'" + std::string(name) + "' cannot name a step: a name of a-z, 0-9 and '_' was expected, which is not " +
                        std::string(kAllSteps) + ", " + std::string(kExps) + " or " + std::string(kWeights));
  Formula& f = formula_of(a);
  const int of = f.node_of(a);
  return f.add({.kind = Kind::step, .arguments = {of}, .axes = f.node(of).axes, .name = std::string(name)});
}

Array either(const Operand& a, const Operand& b, std::string_view way) {
  Formula& f = formula_of(a, b);
  if (!way.empty() && !is_name(way))
    refuse(a.place, "'" + std::string(way) + "' cannot name a way: it is not of a-z, 0-9 and '_'");
  const int first = f.node_of(a), second = f.node_of(b);
  if (f.node(first).axes != f.node(second).axes)
    refuse(a.place,
           "the two ways have " + list(f.recorded(), f.node(first).axes) + " and " + list(f.recorded(), f.node(second).axes));
  return f.add({.kind = Kind::either, .arguments = {first, second}, .axes = f.node(first).axes, .name = std::string(way)});
}

Array rounded_to(DType dtype, const Operand& a) {
  Formula& f = formula_of(a);
  const int of = f.node_of(a);
  return f.add({.kind = Kind::rounded_to, .arguments = {of}, .axes = f.node(of).axes, .to = dtype});
}

Array Along::operator()(const Operand& a) const {
  Formula& f = formula_of(a);
  const int of = f.node_of(a);
  AxisSet over = 0;
  double terms = 1;
  for (const Axis& axis : axes_) {
    const AxisSet bit = AxisSet{1} << f.axis(axis.name, a.place);
    if (!(f.node(of).axes & bit))
      refuse(a.place, "the array has no axis '" + std::string(axis.name) + "', only " + list(f.recorded(), f.node(of).axes));
    if (over & bit) refuse(a.place, "the axis '" + std::string(axis.name) + "' is named twice");
    over |= bit;
    terms *= static_cast<double>(f.extent(axis, a.place));
  }
  if (!over) refuse(a.place, "it names no axis");
  const AxisSet kept = f.node(of).axes & ~over;
  switch (what_) {
    case What::softmax: return f.add({.kind = Kind::softmax, .arguments = {of}, .axes = f.node(of).axes, .over = over});
    case What::softmax_or_zero:
      return f.add({.kind = Kind::softmax_or_zero, .arguments = {of}, .axes = f.node(of).axes, .over = over});
    case What::log_softmax: return f.add({.kind = Kind::log_softmax, .arguments = {of}, .axes = f.node(of).axes, .over = over});
    case What::logsumexp: return f.add({.kind = Kind::logsumexp, .arguments = {of}, .axes = kept, .over = over});
    case What::max: return f.add({.kind = Kind::max, .arguments = {of}, .axes = kept, .over = over});
    case What::sum:
    case What::mean: break;
  }
  const Node product = f.node(of);
  bool contraction = false;
  if (product.kind == Kind::multiply) {
    const AxisSet left = f.node(product.arguments[0]).axes, right = f.node(product.arguments[1]).axes;
    contraction = left != right && (left & right & over) == over;
  }
  const Array total = contraction ? f.add({.kind = Kind::dot, .arguments = product.arguments, .axes = kept, .over = over})
                                  : f.add({.kind = Kind::sum, .arguments = {of}, .axes = kept, .over = over});
  return what_ == What::mean ? Operand(total, a.place) / Operand(terms, a.place) : total;
}

namespace {
// Makes an axis of this number.  The axes from there on have another number then.
void insert_axis(Graph& g, int number, const std::string& name, std::int64_t extent) {
  g.axis_names.insert(g.axis_names.begin() + number, name);
  g.extents.insert(g.extents.begin() + number, extent);
  const AxisSet before = (AxisSet{1} << number) - 1;
  for (Node& n : g.nodes)
    for (AxisSet* const set : {&n.axes, &n.over}) *set = (*set & before) | (*set & ~before) << 1;
  for (std::vector<Port>* const ports : {&g.inputs, &g.outputs})
    for (Port& p : *ports)
      for (int& axis : p.axes) axis += axis >= number ? 1 : 0;
  for (Graph& body : g.bodies) insert_axis(body, number, name, extent);
}
}  // namespace

void Formula::need_axis(const std::string& name, std::int64_t extent, std::span<const std::string> after) {
  const auto& names = graph_.axis_names;
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  if (names.size() == kMostAxes) throw FormulaError("more than " + std::to_string(kMostAxes) + " axes");
  const auto place = std::find_if(names.begin(), names.end(), [&](const std::string& other) {
    return std::find(after.begin(), after.end(), other) != after.end();
  });
  insert_axis(graph_, static_cast<int>(place - names.begin()), name, extent);
}

int Formula::axis_of(const std::string& name) const {
  const auto& names = graph_.axis_names;
  return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
}

Port Formula::port(std::string_view name, const std::vector<std::string>& axes, const Tensor& t) {
  Port port{.name = std::string(name), .dtype = t.dtype};
  for (std::size_t i = 0; i < axes.size(); ++i) need_axis(axes[i], t.shape[i], std::span(axes).subspan(i + 1));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t extent = t.shape[i];
    port.axes.push_back(axis_of(axes[i]));
    if (const std::int64_t other = graph_.extents[static_cast<std::size_t>(port.axes.back())]; other != extent)
      throw FormulaError(port.name + ": axis " + axes[i] + " has extent " + std::to_string(extent) + ", and elsewhere " +
                         std::to_string(other));
  }
  return port;
}

NamedDims::NamedDims(std::span<const Extent> shape, const Tensor& t) : tensor(t) {
  int rank = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].axis == assay::Axis::one) continue;
    names.push_back(shape[i].text());
    tensor.shape[static_cast<std::size_t>(rank)] = t.shape[i];
    tensor.stride[static_cast<std::size_t>(rank++)] = t.stride[i];
  }
  if (rank > 0) tensor.rank = rank;  // Note: a tensor of rank 0 is absent
}

void Formula::declare_input(std::string_view name, const std::vector<std::string>& axes, const Tensor& t) {
  Port port = this->port(name, axes, t);
  port.node = add({.kind = Kind::input, .axes = set_of(port.axes), .name = port.name}).node();
  graph_.inputs.push_back(std::move(port));
}

void Formula::declare_output(std::string_view name, const std::vector<std::string>& axes, const Tensor& t) {
  graph_.outputs.push_back(port(name, axes, t));
  given_.push_back(false);
}

Array Formula::in(std::string_view name, Place place) {
  for (const Port& p : graph_.inputs)
    if (p.name == name) return Array(*this, p.node);
  refuse(place, "there is no input '" + std::string(name) + "'");
}

void Formula::rename(std::string_view name, Axis from, Axis to, Place place) {
  if (scanning_) refuse(place, "an axis gets another name within a step of a scan");
  const int input = in(name, place).node();
  for (const Node& n : graph_.nodes)
    if (std::find(n.arguments.begin(), n.arguments.end(), input) != n.arguments.end())
      refuse(place, "the input '" + std::string(name) + "' was used before its axis got another name");
  const std::int64_t extent = graph_.extents[static_cast<std::size_t>(axis(from.name, place))];
  std::vector<std::string> after;
  for (const Port& p : graph_.inputs)
    if (p.node == input)
      for (const int axis : p.axes) after.push_back(graph_.axis_names[static_cast<std::size_t>(axis)]);
  after.erase(after.begin(), std::find(after.begin(), after.end(), from.name));
  if (!after.empty()) after.erase(after.begin());
  need_axis(std::string(to.name), extent, after);
  const int old = axis(from.name, place), fresh = axis(to.name, place);
  if (graph_.extents[static_cast<std::size_t>(fresh)] != extent)
    refuse(place, "the axes '" + std::string(from.name) + "' and '" + std::string(to.name) + "' differ in extent");
  AxisSet& axes = graph_.nodes[static_cast<std::size_t>(input)].axes;
  if (!(axes >> old & 1)) refuse(place, "the input '" + std::string(name) + "' has no axis '" + std::string(from.name) + "'");
  if (axes >> fresh & 1)
    refuse(place, "the input '" + std::string(name) + "' has an axis '" + std::string(to.name) + "' already");
  axes = (axes & ~(AxisSet{1} << old)) | AxisSet{1} << fresh;
  for (Port& p : graph_.inputs)
    if (p.node == input) std::replace(p.axes.begin(), p.axes.end(), old, fresh);
}

Array Formula::index(Axis along, Place place) {
  return add({.kind = Kind::index, .axes = AxisSet{1} << axis(along.name, place)});
}

Array Formula::index(Axis own, std::int64_t extent, Place place) {
  const std::string name(own.name);
  if (extent < 0) refuse(place, "the axis '" + name + "' would have a negative extent");
  const int at = axis_of(name);
  const auto has_axis = [at](const Port& p) { return std::ranges::find(p.axes, at) != p.axes.end(); };
  if (std::ranges::any_of(graph_.inputs, has_axis) || std::ranges::any_of(graph_.outputs, has_axis))
    refuse(place, "the axis '" + name + "' is a tensor's; index() without an extent has its positions");
  const bool is_new = at == static_cast<int>(graph_.axis_names.size());
  if (is_new && scanning_) refuse(place, "the axis '" + name + "' is made within a step of a scan; make it before the scan");
  if (is_new && at == kMostAxes) refuse(place, "the axis '" + name + "' would be one of more than " + std::to_string(kMostAxes));
  need_axis(name, extent, {});
  if (const std::int64_t other = graph_.extents[static_cast<std::size_t>(at)]; other != extent)
    refuse(place, "the axis '" + name + "' has extent " + std::to_string(other) + " already");
  return index(own, place);
}

void Formula::out(std::string_view name, const Array& a, Place place) {
  if (scanning_) refuse(place, "an output is given within a step of a scan");
  for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
    Port& p = graph_.outputs[i];
    if (p.name != name) continue;
    if (given_[i]) refuse(place, "the output '" + p.name + "' is given twice");
    const AxisSet declared = set_of(p.axes);
    if (node(a.node()).axes != declared)
      refuse(place, "the output '" + p.name + "' has " + list(graph_, declared) + ", and the array " +
                        list(graph_, node(a.node()).axes));
    p.node = a.node();
    given_[i] = true;
    return;
  }
  refuse(place, "there is no output '" + std::string(name) + "'");
}

int Formula::axis(std::string_view name, const Place& place) const {
  const auto at = std::find(graph_.axis_names.begin(), graph_.axis_names.end(), name);
  if (at == graph_.axis_names.end()) refuse(place, "there is no axis '" + std::string(name) + "'");
  return static_cast<int>(at - graph_.axis_names.begin());
}

std::int64_t Formula::extent(Axis axis, Place place) const {
  return graph_.extents[static_cast<std::size_t>(this->axis(axis.name, place))];
}

// Constants stay apart, so that a formula's graph has the same nodes whatever its numbers are.
Array Formula::add(Node node) {
  const auto same = std::find(graph_.nodes.begin(), graph_.nodes.end(), node);
  if (same != graph_.nodes.end() && node.kind != Kind::constant)
    return Array(*this, static_cast<int>(same - graph_.nodes.begin()));
  graph_.nodes.push_back(std::move(node));
  return Array(*this, static_cast<int>(graph_.nodes.size()) - 1);
}

int Formula::node_of(const Operand& a) {
  if (a.formula) return a.node;
  if (a.number != a.number) refuse(a.place, "a constant that is no number");
  return add({.kind = Kind::constant, .number = a.number}).node();
}

Graph Formula::graph() const {
  for (std::size_t i = 0; i < given_.size(); ++i)
    if (!given_[i]) throw FormulaError("the output '" + graph_.outputs[i].name + "' is not given");
  Graph graph = only(graph_, graph_.outputs, true);
  if (std::ranges::any_of(graph.nodes, [](const Node& n) { return n.kind == Kind::given; }))
    throw FormulaError("an array of a scan's step is used outside of that step");
  return graph;
}

namespace {

// Takes from a recording the nodes that depend on a scan's states: its step.
class StepOfScan {
 public:
  // The axes of what the step is given and computes lack `along`.
  StepOfScan(const Graph& recorded, int scan, AxisSet along, std::vector<int> states, const Place& place)
      : recorded_(recorded), scan_(scan), along_(along), arguments_(std::move(states)), place_(place) {
    body_.axis_names = recorded.axis_names;
    body_.extents = recorded.extents;
  }

  void put_out(int node, AxisSet axes) { body_.outputs.push_back({.axes = list_of(axes), .node = copy(node)}); }

  Graph body() && { return std::move(body_); }
  std::vector<int> arguments() && { return std::move(arguments_); }

 private:
  void at_one_step(Node& n) const {
    if (n.over & along_) refuse(place_, "a step of the scan works along the axis of its steps");
    n.axes &= ~along_;
  }
  void at_one_step(Graph& step_within) const {
    for (Node& n : step_within.nodes) at_one_step(n);
    for (Port& p : step_within.outputs) std::erase_if(p.axes, [this](int axis) { return (along_ >> axis & 1) != 0; });
    for (Graph& body : step_within.bodies) at_one_step(body);
  }

  bool depends(int i) {
    const auto at = depends_.find(i);
    if (at != depends_.end()) return at->second;
    const Node& n = recorded_.nodes[static_cast<std::size_t>(i)];
    const bool found =
        n.kind == Kind::given ? n.body == scan_ : std::ranges::any_of(n.arguments, [&](int a) { return depends(a); });
    return depends_[i] = found;
  }

  // The node's place in the body.
  int copy(int i) {
    const auto at = places_.find(i);
    if (at != places_.end()) return at->second;
    Node n = recorded_.nodes[static_cast<std::size_t>(i)];
    if (!depends(i) && n.kind != Kind::constant) {
      n = {.kind = Kind::given, .axes = n.axes, .number = static_cast<double>(arguments_.size())};
      arguments_.push_back(i);
    } else if (n.kind == Kind::given) {
      n.body = -1;
    } else {
      for (int& argument : n.arguments) argument = copy(argument);
      if (n.kind == Kind::scan) {
        body_.bodies.push_back(recorded_.bodies[static_cast<std::size_t>(n.body)]);
        n.body = static_cast<int>(body_.bodies.size()) - 1;
        at_one_step(body_.bodies.back());
      }
    }
    at_one_step(n);
    body_.nodes.push_back(std::move(n));
    return places_[i] = static_cast<int>(body_.nodes.size()) - 1;
  }

  const Graph& recorded_;
  int scan_;
  AxisSet along_;
  std::vector<int> arguments_;
  const Place& place_;
  Graph body_;
  std::map<int, int> places_;
  std::map<int, bool> depends_;
};

}  // namespace

Stepped Formula::recorded_step(const std::vector<int>& first, AxisSet along, int scan, const Next& next, const Place& place,
                               std::vector<AxisSet>& axes_of_states) {
  for (;;) {
    std::vector<Array> before;
    for (std::size_t k = 0; k < first.size(); ++k)
      before.push_back(add({.kind = Kind::given, .axes = axes_of_states[k], .number = static_cast<double>(k), .body = scan}));
    ++scanning_;
    Stepped after = next(before);
    --scanning_;
    if (after.states.size() != first.size())
      refuse(place, "the scan has " + std::to_string(first.size()) + " states, and its step gives " +
                        std::to_string(after.states.size()));
    bool hold = true;
    for (std::size_t k = 0; k < first.size(); ++k) {
      const AxisSet axes = node(after.states[k].node()).axes & ~along;
      hold = hold && (axes & ~axes_of_states[k]) == 0;
      axes_of_states[k] |= axes;
    }
    if (hold) return after;
  }
}

Stepped Formula::scan(Axis axis_of_steps, const std::vector<Operand>& first, const Next& next, Place place) {
  const AxisSet along = AxisSet{1} << axis(axis_of_steps.name, place);
  std::vector<int> arguments;
  std::vector<AxisSet> axes;
  for (const Operand& state : first) {
    if (state.formula && state.formula != this) refuse(place, "its states belong to two formulas");
    arguments.push_back(node_of(state));
    axes.push_back(node(arguments.back()).axes);
    if (axes.back() & along) refuse(place, "a state has the axis '" + std::string(axis_of_steps.name) + "' of the steps");
  }
  if (first.empty()) refuse(place, "a scan without states");
  const auto number = static_cast<int>(graph_.bodies.size());
  graph_.bodies.emplace_back();  // this scan's, so that one within its step has another number
  const Stepped after = recorded_step(arguments, along, number, next, place, axes);

  StepOfScan taken(graph_, number, along, arguments, place);
  Node scan{.kind = Kind::scan, .over = along, .number = static_cast<double>(first.size()), .body = number};
  std::vector<AxisSet> axes_of_results = axes;
  for (std::size_t k = 0; k < first.size(); ++k) taken.put_out(after.states[k].node(), axes[k]);
  for (const Array& output : after.outputs) {
    const AxisSet own = node(output.node()).axes & ~along;
    taken.put_out(output.node(), own);
    axes_of_results.push_back(own | along);
  }
  for (const AxisSet of_result : axes_of_results) scan.axes |= of_result & ~along;
  graph_.bodies[static_cast<std::size_t>(number)] = std::move(taken).body();
  scan.arguments = std::move(taken).arguments();
  const int of = add(std::move(scan)).node();
  Stepped all;
  for (std::size_t k = 0; k < axes_of_results.size(); ++k) {
    const Array result =
        add({.kind = Kind::result, .arguments = {of}, .axes = axes_of_results[k], .number = static_cast<double>(k)});
    (k < first.size() ? all.states : all.outputs).push_back(result);
  }
  return all;
}

}  // namespace assay::formula
