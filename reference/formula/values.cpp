// SPDX-License-Identifier: Apache-2.0
// f64 values and magnitudes (values.hpp).
#include "reference/formula/values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/core/activation.hpp"

namespace assay::formula {
namespace {

double apply(Kind kind, double x) {
  switch (kind) {
    case Kind::negate: return -x;
    case Kind::square: return x * x;
    case Kind::absolute: return std::fabs(x);
    case Kind::exp: return std::exp(x);
    case Kind::log: return std::log(x);
    case Kind::tanh: return std::tanh(x);
    case Kind::erf: return std::erf(x);
    case Kind::sigmoid: return assay::detail::sigmoid(x);
    case Kind::softplus: return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
    case Kind::silu: return activation(Activation::silu, x);
    case Kind::gelu_tanh: return activation(Activation::gelu_tanh, x);
    case Kind::gelu_erf: return activation(Activation::gelu_erf, x);
    case Kind::sqrt: return std::sqrt(x);
    case Kind::rsqrt: return 1 / std::sqrt(x);
    default: return x;
  }
}

double apply(Kind kind, double a, double b) {
  switch (kind) {
    case Kind::add: return a + b;
    case Kind::subtract: return a - b;
    case Kind::multiply: return a * b;
    case Kind::divide: return a / b;
    case Kind::maximum: return std::isnan(a) || std::isnan(b) ? a + b : std::max(a, b);
    default: return std::isnan(a) || std::isnan(b) ? a + b : std::min(a, b);
  }
}

void add_to(std::map<Symbol, Field>& sums, const Extents& e, Symbol symbol, Field coefficient) {
  const auto at = sums.find(symbol);
  if (at == sums.end()) sums.emplace(symbol, std::move(coefficient));
  else
    at->second = map(
        e, [](double a, double b) { return a + b; }, at->second, coefficient);
}

}  // namespace

bool is_power_of_two_or_zero(double v) {
  int exponent = 0;
  return v == 0 || std::fabs(std::frexp(v, &exponent)) == 0.5;
}

Values::Values(const Graph& graph, std::span<const Tensor> tensors, Part part, const Values* common)
    : graph_(graph), tensors_(tensors), part_(std::move(part)) {
  for (std::size_t i = 0; i < graph.extents.size(); ++i) extents_.of[i] = graph.extents[i];
  const bool parted = part_.axis >= 0;
  if (parted) extents_.of[static_cast<std::size_t>(part_.axis)] = static_cast<std::int64_t>(part_.positions.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const bool is_common = common && parted && !(graph.nodes[i].axes >> part_.axis & 1);
    known_.push_back(is_common ? common->known_[i] : std::make_shared<const Known>(visit(static_cast<int>(i))));
  }
}

Field Values::load(const Port& input) const {
  const Tensor& t = tensors_[static_cast<std::size_t>(&input - graph_.inputs.data())];
  Places places;
  for (std::size_t d = 0; d < input.axes.size(); ++d) {
    const int axis = input.axes[d];
    for (std::int64_t i = 0; i < extents_[axis]; ++i)
      places[static_cast<std::size_t>(axis)].push_back(t.stride[d] *
                                                       (axis == part_.axis ? part_.positions[static_cast<std::size_t>(i)] : i));
  }
  Field out = Field::like(graph_.nodes[static_cast<std::size_t>(input.node)].axes, extents_);
  walk(list_of(out.axes), extents_, places,
       [&](std::size_t k, std::size_t at) { out.at[k] = decode(t.dtype, t.data, static_cast<std::int64_t>(at)); });
  return out;
}

Field Values::compute(const Node& node) const {
  const auto value = [&](std::size_t i) -> const Field& { return (*this)[node.arguments[i]].value; };
  switch (info(node.kind).group) {
    case Group::leaf: return Field::number(node.number);
    case Group::arithmetic:
    case Group::function:
      if (node.arguments.size() == 1)
        return map(
            extents_, [k = node.kind](double x) { return apply(k, x); }, value(0));
      switch (node.kind) {  // Note: spelled out, so that the loops of the common kinds hold no decision
        case Kind::add:
          return map(
              extents_, [](double a, double b) { return a + b; }, value(0), value(1));
        case Kind::subtract:
          return map(
              extents_, [](double a, double b) { return a - b; }, value(0), value(1));
        case Kind::multiply:
          return map(
              extents_, [](double a, double b) { return a * b; }, value(0), value(1));
        default:
          return map(
              extents_, [k = node.kind](double a, double b) { return apply(k, a, b); }, value(0), value(1));
      }
    case Group::reduction:
    case Group::row_function: break;
  }
  switch (node.kind) {
    case Kind::sum: return sum_over(extents_, node.over, value(0));
    case Kind::max: return max_over(extents_, node.over, value(0));
    case Kind::dot: return dot_over(extents_, node.over, value(0), value(1));
    default: return {};  // rows: find_rows()
  }
}

std::map<Symbol, Field> Values::shared_of(int argument, AxisSet axes) const {
  const Known& x = (*this)[argument];
  if (x.exact || x.value.axes == 0) return {};
  if (axes & ~x.value.axes) return {{Symbol{argument, false}, Field::number(1)}};
  return x.shared;
}

// To first order: sums and products carry the shared errors of their arguments on.
void Values::share(int i, Known& y) const {
  const Node& node = graph_.nodes[static_cast<std::size_t>(i)];
  const auto scaled = [&](const Field& coefficient, const Field& by_what) {
    return map(
        extents_, [](double c, double v) { return by(c, v); }, coefficient, by_what);
  };
  switch (node.kind) {
    case Kind::add:
    case Kind::subtract:
      for (std::size_t k = 0; k < 2; ++k)
        for (const auto& [symbol, c] : shared_of(node.arguments[k], node.axes)) {
          const double sign = k == 1 && node.kind == Kind::subtract ? -1 : 1;
          add_to(y.shared, extents_, symbol,
                 map(
                     extents_, [sign](double v) { return sign * v; }, c));
        }
      return;
    case Kind::negate:
      for (const auto& [symbol, c] : shared_of(node.arguments[0], node.axes))
        y.shared.emplace(symbol, map(
                                     extents_, [](double v) { return -v; }, c));
      return;
    case Kind::step: y.shared = shared_of(node.arguments[0], node.axes); return;
    case Kind::square:
      for (const auto& [symbol, c] : shared_of(node.arguments[0], node.axes))
        y.shared.emplace(symbol,
                         map(
                             extents_, [](double v, double x) { return by(2 * x, v); }, c, (*this)[node.arguments[0]].value));
      return;
    case Kind::multiply:
      for (std::size_t k = 0; k < 2; ++k)
        for (const auto& [symbol, c] : shared_of(node.arguments[k], node.axes))
          add_to(y.shared, extents_, symbol, scaled(c, (*this)[node.arguments[1 - k]].value));
      return;
    case Kind::divide: {
      const Known& divisor = (*this)[node.arguments[1]];
      const Field inverse = map(
          extents_, [](double v) { return 1 / v; }, divisor.value);
      for (const auto& [symbol, c] : shared_of(node.arguments[0], node.axes))
        add_to(y.shared, extents_, symbol, scaled(c, inverse));
      if (!divisor.exact && divisor.value.axes != 0 && (node.axes & ~divisor.value.axes))
        add_to(y.shared, extents_, {node.arguments[1], true}, (*this)[node.arguments[0]].value);
      return;
    }
    default: return;
  }
}

void Values::find_terms(int i, Known& y) const {
  const Node& node = graph_.nodes[static_cast<std::size_t>(i)];
  const auto magnitude = [&](const Field& f) {
    return map(
        extents_, [](double v) { return std::fabs(v); }, f);
  };
  const auto squared = [&](const Field& f) {
    return map(
        extents_, [](double v) { return v * v; }, f);
  };
  const auto root = [&](const Field& f) {
    return map(
        extents_, [](double v) { return std::sqrt(v); }, f);
  };
  const auto nonzero = [&](const Field& f) {
    return map(
        extents_, [](double v) { return v != 0 ? 1.0 : 0.0; }, f);
  };
  // The axes of the error itself are no axes of the sum: it moves all terms at once.
  const auto common = [&](Symbol s) { return (graph_.nodes[static_cast<std::size_t>(s.node)].axes & node.over) == 0; };

  const Known& a = (*this)[node.arguments[0]];
  if (node.kind == Kind::sum) {
    const Field& x = a.value;
    y.terms = {.size = sum_over(extents_, node.over, magnitude(x)),
               .root = root(sum_over(extents_, node.over, squared(x))),
               .count = sum_over(extents_, node.over, nonzero(x))};
    for (const auto& [symbol, c] : a.shared)
      if (common(symbol)) y.terms.left.emplace(symbol, magnitude(sum_over(extents_, node.over, c)));
    return;
  }
  const Known& b = (*this)[node.arguments[1]];
  y.terms = {.size = dot_over(extents_, node.over, a.size, b.size),
             .root = root(dot_over(extents_, node.over, a.squares, b.squares)),
             .count = Field::number(static_cast<double>(extents_.size(node.over)))};
  for (const auto& [symbol, c] : a.shared)
    if (common(symbol)) y.terms.left.emplace(symbol, magnitude(dot_over(extents_, node.over, c, b.value)));
  for (const auto& [symbol, c] : b.shared)
    if (common(symbol)) y.terms.right.emplace(symbol, magnitude(dot_over(extents_, node.over, a.value, c)));
}

void Values::find_rows(int i, Known& y) const {
  const Node& node = graph_.nodes[static_cast<std::size_t>(i)];
  const Field& x = (*this)[node.arguments[0]].value;
  RowParts& rows = y.rows;
  const Field top = max_over(extents_, node.over, x);
  rows.top = map(
      extents_, [](double m) { return std::isfinite(m) ? m : 0.0; }, top);
  rows.distance = map(
      extents_, [](double v, double m) { return m - v; }, x, rows.top);
  const Field e = map(
      extents_, [](double d) { return std::exp(-d); }, rows.distance);
  const Field sum = sum_over(extents_, node.over, e);
  rows.weight = map(
      extents_, [](double v, double s) { return s > 0 ? v / s : 0.0; }, e, sum);
  rows.count = sum_over(extents_, node.over,
                        map(
                            extents_, [](double v) { return v > 0 ? 1.0 : 0.0; }, e));
  rows.log_sum = map(
      extents_, [](double s) { return s > 0 ? std::log(s) : 0.0; }, sum);

  // A maximum that is infinite or NaN is subtracted from itself, so the row is NaN; as a logarithm of a sum it is the answer.
  if (node.kind == Kind::softmax) {
    y.value = map(
        extents_, [](double v, double s, double m) { return std::isfinite(m) ? v / s : kNaN; }, e, sum, top);
    return;
  }
  y.value = map(
      extents_, [](double l, double m) { return std::isfinite(m) ? l + m : m; }, rows.log_sum, top);
  if (node.kind == Kind::log_softmax)
    y.value = map(
        extents_, [](double v, double l) { return v - l; }, x, y.value);
}

Known Values::visit(int i) const {
  const Node& node = graph_.nodes[static_cast<std::size_t>(i)];
  Known y;
  if (node.kind == Kind::input) {
    for (const Port& p : graph_.inputs)
      if (p.node == i) y.value = load(p);
  } else {
    y.value = compute(node);
  }
  const bool of_exact = std::all_of(node.arguments.begin(), node.arguments.end(), [&](int a) { return (*this)[a].exact; });
  switch (node.kind) {
    case Kind::input: y.exact = true; break;
    case Kind::constant:
      // Exact in every format that accumulates.
      y.exact = !std::isfinite(node.number) || is_power_of_two_or_zero(node.number) ||
                (round_to(bf16, node.number) == node.number && round_to(f16, node.number) == node.number);
      break;
    case Kind::max:
    case Kind::maximum:
    case Kind::minimum:
    case Kind::absolute:
    case Kind::negate: y.exact = of_exact; break;
    case Kind::sum:
    case Kind::dot: find_terms(i, y); break;
    case Kind::softmax:
    case Kind::logsumexp:
    case Kind::log_softmax: find_rows(i, y); break;
    default: break;
  }
  const auto multiplies = [i](const Node& n) {
    return n.kind == Kind::dot && std::find(n.arguments.begin(), n.arguments.end(), i) != n.arguments.end();
  };
  if (std::any_of(graph_.nodes.begin(), graph_.nodes.end(), multiplies)) {
    y.size = map(
        extents_, [](double v) { return std::fabs(v); }, y.value);
    y.squares = map(
        extents_, [](double v) { return v * v; }, y.value);
  }
  if (!y.exact) share(i, y);
  return y;
}

std::vector<double> Values::in_order_of(const Port& output, const Field& field) const {
  AxisSet axes = 0;
  for (const int axis : output.axes) axes |= AxisSet{1} << axis;
  const Field whole = spread(extents_, axes, field);
  std::vector<double> out(whole.at.size());
  walk(output.axes, extents_, places_in(list_of(axes), extents_), [&](std::size_t k, std::size_t i) { out[k] = whole.at[i]; });
  return out;
}

std::vector<double> Values::output(std::size_t number) const {
  const Port& port = graph_.outputs[number];
  return in_order_of(port, (*this)[port.node].value);
}

}  // namespace assay::formula
