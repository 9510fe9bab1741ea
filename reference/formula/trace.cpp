// SPDX-License-Identifier: Apache-2.0
// Records formulas (formula.hpp).
#include <algorithm>
#include <bit>

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

Array step(std::string_view name, const Operand& a, Stored stored) {
  Formula& f = formula_of(a);
  const int of = f.node_of(a);
  return f.add({.kind = Kind::step, .arguments = {of}, .axes = f.node(of).axes, .name = std::string(name), .stored = stored});
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

Port Formula::port(std::string_view name, const std::vector<std::string_view>& axes, const Tensor& t) {
  Port port{.name = std::string(name), .dtype = t.dtype};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    auto& names = graph_.axis_names;
    const auto at = std::find(names.begin(), names.end(), axes[i]);
    const std::int64_t extent = t.shape[i];
    port.axes.push_back(static_cast<int>(at - names.begin()));
    if (at == names.end()) {
      if (names.size() == kMostAxes) throw FormulaError("more than " + std::to_string(kMostAxes) + " axes");
      names.emplace_back(axes[i]);
      graph_.extents.push_back(extent);
    } else if (graph_.extents[static_cast<std::size_t>(at - names.begin())] != extent) {
      throw FormulaError(port.name + ": axis " + std::string(axes[i]) + " has extent " + std::to_string(extent) +
                         ", and elsewhere " + std::to_string(graph_.extents[static_cast<std::size_t>(at - names.begin())]));
    }
  }
  return port;
}

void Formula::declare_input(std::string_view name, const std::vector<std::string_view>& axes, const Tensor& t) {
  Port port = this->port(name, axes, t);
  AxisSet set = 0;
  for (const int axis : port.axes) set |= AxisSet{1} << axis;
  port.node = add({.kind = Kind::input, .axes = set, .name = port.name}).node();
  graph_.inputs.push_back(std::move(port));
}

void Formula::declare_output(std::string_view name, const std::vector<std::string_view>& axes, const Tensor& t) {
  graph_.outputs.push_back(port(name, axes, t));
  given_.push_back(false);
}

Array Formula::in(std::string_view name, Place place) {
  for (const Port& p : graph_.inputs)
    if (p.name == name) return Array(*this, p.node);
  refuse(place, "there is no input '" + std::string(name) + "'");
}

void Formula::out(std::string_view name, const Array& a, Place place) {
  for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
    Port& p = graph_.outputs[i];
    if (p.name != name) continue;
    if (given_[i]) refuse(place, "the output '" + p.name + "' is given twice");
    AxisSet declared = 0;
    for (const int axis : p.axes) declared |= AxisSet{1} << axis;
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

Array Formula::add(Node node) {
  const auto same = std::find_if(graph_.nodes.begin(), graph_.nodes.end(), [&](const Node& n) {
    return n == node && std::bit_cast<std::uint64_t>(n.number) == std::bit_cast<std::uint64_t>(node.number);  // 0 is not -0
  });
  if (same != graph_.nodes.end()) return Array(*this, static_cast<int>(same - graph_.nodes.begin()));
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
  std::vector<bool> needed(graph_.nodes.size(), false);
  for (const Port& p : graph_.outputs) needed[static_cast<std::size_t>(p.node)] = true;
  for (const Port& p : graph_.inputs) needed[static_cast<std::size_t>(p.node)] = true;
  for (std::size_t i = graph_.nodes.size(); i-- > 0;)
    if (needed[i])
      for (const int argument : graph_.nodes[i].arguments) needed[static_cast<std::size_t>(argument)] = true;
  Graph g{.axis_names = graph_.axis_names,
          .extents = graph_.extents,
          .nodes = {},
          .inputs = graph_.inputs,
          .outputs = graph_.outputs};
  std::vector<int> place(graph_.nodes.size(), -1);
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (!needed[i]) continue;
    place[i] = static_cast<int>(g.nodes.size());
    g.nodes.push_back(graph_.nodes[i]);
    for (int& argument : g.nodes.back().arguments) argument = place[static_cast<std::size_t>(argument)];
  }
  for (Port& p : g.inputs) p.node = place[static_cast<std::size_t>(p.node)];
  for (Port& p : g.outputs) p.node = place[static_cast<std::size_t>(p.node)];
  return g;
}

}  // namespace assay::formula
