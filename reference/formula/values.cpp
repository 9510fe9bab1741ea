// SPDX-License-Identifier: Apache-2.0
// f64 values and magnitudes (values.hpp).
#include "reference/formula/values.hpp"

#include <algorithm>
#include <cmath>

#include "reference/formula/elements.hpp"

namespace assay::formula {
namespace {

// cos or sin of position base^(above/below), or of position above/below.  The factor, which seldom depends on the position, is
// found first, as a sum of two f64.
Field turn(const Extents& e, const Node& node, const Field& position, const Field& above, const Field& below) {
  const auto power = [base = static_cast<long double>(node.number)](double a, double b) {
    const long double quotient = static_cast<long double>(a) / static_cast<long double>(b);
    return base == 0 ? quotient : std::pow(base, quotient);
  };
  const Field high = map(
      e, [&](double a, double b) { return static_cast<double>(power(a, b)); }, above, below);
  const Field low = map(
      e, [&](double a, double b, double h) { return static_cast<double>(power(a, b) - static_cast<long double>(h)); }, above,
      below, high);
  return map(
      e,
      [is_cos = node.kind == Kind::cos_turn](double p, double h, double l) {
        const long double angle = static_cast<long double>(p) * (static_cast<long double>(h) + static_cast<long double>(l));
        return static_cast<double>(is_cos ? std::cos(angle) : std::sin(angle));
      },
      position, high, low);
}

void add_to(std::map<Symbol, Field>& sums, const Extents& e, Symbol symbol, Field coefficient) {
  const auto at = sums.find(symbol);
  if (at == sums.end()) sums.emplace(symbol, std::move(coefficient));
  else
    at->second = map(
        e, [](double a, double b) { return a + b; }, at->second, coefficient);
}

// Whether all elements are finite and at least 0.
bool is_size(const Field& f) {
  int others = 0;
  for (const double v : f.at) others |= !(v >= 0 && v < kInfinity);
  return others == 0;
}

}  // namespace

bool is_power_of_two_or_zero(double v) {
  int exponent = 0;
  return v == 0 || std::fabs(std::frexp(v, &exponent)) == 0.5;
}

Mean mean_of(const Graph& graph, const Node& node) {
  if (node.kind != Kind::dot) return {};
  for (std::size_t k = 0; k < 2; ++k) {
    const Node& weights = graph.nodes[static_cast<std::size_t>(node.arguments[k])];
    if ((weights.kind == Kind::softmax || weights.kind == Kind::softmax_or_zero) && weights.over == node.over)
      return {node.arguments[k], node.arguments[1 - k]};
  }
  return {};
}

int condition_of(const Graph& graph, const Node& row_function) {
  const Node& argument = graph.nodes[static_cast<std::size_t>(row_function.arguments[0])];
  if (argument.kind != Kind::where) return -1;
  const Node& otherwise = graph.nodes[static_cast<std::size_t>(argument.arguments[2])];
  return otherwise.kind == Kind::constant && otherwise.number == -kInfinity ? argument.arguments[0] : -1;
}

void Values::set_extents() {
  extents_ = Extents(graph_);
  for (const auto& [axis, positions] : part_)
    extents_.of[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(positions.size());
}

Values::Values(const Graph& graph, std::span<const Tensor> tensors, Part part, const Values* common, Need need)
    : graph_(graph), tensors_(tensors), part_(std::move(part)), need_(need) {
  set_extents();
  AxisSet differing = 0;
  if (common)
    for (const auto& [axis, positions] : part_) differing |= common->part_.contains(axis) ? 0 : AxisSet{1} << axis;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const int node = static_cast<int>(i);
    if (!common || !common->has(node)) known_.push_back(std::make_shared<const Known>(visit(node)));
    else if (graph.nodes[i].axes & differing) known_.push_back(std::make_shared<const Known>(cut((*common)[node], *common)));
    else known_.push_back(common->known_[i]);
  }
}

Values::Values(const Graph& graph, std::span<const Tensor> tensors, const Interpretation& interpretation)
    : graph_(graph), tensors_(tensors) {
  set_extents();
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    known_.push_back(std::make_shared<const Known>(interpretation.known(*this, static_cast<int>(i))));
}

Values::Values(Without without, const Graph& graph, std::span<const Tensor> tensors, Part part, Need need)
    : graph_(graph), tensors_(tensors), part_(std::move(part)), need_(need) {
  set_extents();
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const bool apart = node.axes >> without.axis & 1 || !has_arguments(node);
    known_.push_back(apart ? nullptr : std::make_shared<const Known>(visit(static_cast<int>(i))));
  }
}

Values Values::without(int axis, const Graph& graph, std::span<const Tensor> tensors, Part part, Need need) {
  return Values(Without{axis}, graph, tensors, std::move(part), need);
}

bool Values::has_arguments(const Node& node) const {
  return std::all_of(node.arguments.begin(), node.arguments.end(), [&](int argument) { return has(argument); });
}

Field Values::cut(const Field& field, const Values& from) const {
  Field out = field;
  Extents extents = from.extents_;
  for (const auto& [axis, positions] : part_) {
    if (from.part_.contains(axis)) continue;
    out = pick(extents, out, axis, positions);
    extents.of[static_cast<std::size_t>(axis)] = extents_[axis];
  }
  return out;
}

Known Values::cut(const Known& known, const Values& from) const {
  const auto shorter = [&](const Field& f) { return cut(f, from); };
  const auto all_shorter = [&](const std::map<Symbol, Field>& coefficients) {
    std::map<Symbol, Field> out;
    for (const auto& [symbol, c] : coefficients) out.emplace(symbol, shorter(c));
    return out;
  };
  const auto& [size, root, count, spread, farthest, unhidden, left, right] = known.terms;
  std::vector<Known> results;
  for (const Known& result : known.results) results.push_back(cut(result, from));
  const auto& [most, top, largest, distance, weight, exps, log_sum, row_spread, row_squares] = known.rows;
  return {.value = shorter(known.value),
          .exact = known.exact,
          .whole = known.whole,
          .shared = all_shorter(known.shared),
          .terms = {shorter(size), shorter(root), shorter(count), shorter(spread), shorter(farthest), shorter(unhidden),
                    all_shorter(left), all_shorter(right)},
          .rows = {shorter(most), shorter(top), shorter(largest), shorter(distance), shorter(weight), shorter(exps),
                   shorter(log_sum), shorter(row_spread), shorter(row_squares)},
          .size = shorter(known.size),
          .squares = shorter(known.squares),
          .results = std::move(results)};
}

Field Values::compute(const Node& node) const {
  const auto value = [&](std::size_t i) -> const Field& { return (*this)[node.arguments[i]].value; };
  switch (info(node.kind).group) {
    case Group::leaf: {
      if (node.kind == Kind::constant) return Field::number(node.number);
      const int axis = std::countr_zero(node.axes);
      std::vector<double> positions;
      for (std::int64_t i = 0; i < extents_[axis]; ++i) positions.push_back(static_cast<double>(position(axis, i)));
      return {node.axes, {positions.begin(), positions.end()}};
    }
    case Group::gather: return node.kind == Kind::put ? put(node, value(0)) : take(node);
    case Group::arithmetic:
    case Group::function:
      if (node.kind == Kind::cos_turn || node.kind == Kind::sin_turn) return turn(extents_, node, value(0), value(1), value(2));
      if (is_staircase(node.kind))
        return map(
            extents_, [&node](double x) { return on_staircase(node, x); }, value(0));
      if (node.kind == Kind::either) return value(0);
      if (node.kind == Kind::where)
        return map(
            extents_, [](double holds, double a, double b) { return holds != 0 ? a : b; }, value(0), value(1), value(2));
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
    case Group::row_function:
    case Group::recurrence: break;
  }
  switch (node.kind) {
    case Kind::sum: return sum_over(extents_, node.over, value(0));
    case Kind::max: {
      const int rows = earlier_rows(static_cast<int>(&node - graph_.nodes.data()));
      return rows >= 0 ? (*this)[rows].rows.most : max_over(extents_, node.over, value(0));
    }
    case Kind::dot: return multiply_up(node);
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
    case Kind::where:  // of what is chosen
      for (std::size_t k = 1; k < 3; ++k)
        for (const auto& [symbol, c] : shared_of(node.arguments[k], node.axes))
          add_to(y.shared, extents_, symbol,
                 map(
                     extents_, [first = k == 1](double holds, double v) { return (holds != 0) == first ? v : 0.0; },
                     (*this)[node.arguments[0]].value, c));
      return;
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
  const auto root = [&](const Field& f) {
    return map(
        extents_, [](double v) { return std::sqrt(v); }, f);
  };
  // The axes of the error itself are no axes of the sum: it moves all terms at once.
  const auto common = [&](Symbol s) { return (graph_.nodes[static_cast<std::size_t>(s.node)].axes & node.over) == 0; };

  const Known& a = (*this)[node.arguments[0]];
  if (node.kind == Kind::sum) {
    const Field& x = a.value;
    const auto sums = fold_each<3>(
        extents_, node.over, {Fold::total, Fold::total, Fold::total},
        [](double v) {
          return std::array{std::fabs(v), v * v, v != 0 ? 1.0 : 0.0};
        },
        x);
    y.terms = {.size = sums[0], .root = root(sums[1]), .count = sums[2]};
    for (const auto& [symbol, c] : a.shared)
      if (common(symbol)) y.terms.left.emplace(symbol, magnitude(sum_over(extents_, node.over, c)));
    return;
  }
  const Known& b = (*this)[node.arguments[1]];
  y.terms = {.size = dot_over(extents_, node.over, a.size, b.size),
             .root = root(dot_over(extents_, node.over, a.squares, b.squares)),
             .count = Field::number(static_cast<double>(extents_.size(node.over)))};
  if (const Mean mean = mean_of(graph_, node); mean.weights >= 0) {
    const Known &w = (*this)[mean.weights], &x = (*this)[mean.of];
    // The rounding errors of the two f64 sums are added, so that it stays an upper bound: n of sum w x^2, 2n of its square.
    const double lost = 3 * static_cast<double>(extents_.size(node.over)) * 0x1p-53;
    y.terms.spread = map(
        extents_, [lost](double squares, double v) { return std::sqrt(std::max(squares - v * v, 0.0) + lost * squares); },
        dot_over(extents_, node.over, w.size, x.squares), y.value);
    y.terms.farthest = max_over(extents_, node.over, x.size);
    const int condition = condition_of(graph_, graph_.nodes[static_cast<std::size_t>(mean.weights)]);
    y.terms.unhidden =
        condition < 0 ? sum_over(extents_, node.over, x.size) : dot_over(extents_, node.over, (*this)[condition].value, x.size);
  }
  // Of what is not finite: a finite sum has not read it.
  const auto folded = [&](const Field& c, const Known& by_what) {
    const auto is_finite = [](double v) { return std::isfinite(v); };
    if (std::ranges::all_of(by_what.value.at, is_finite)) return magnitude(dot_over(extents_, node.over, c, by_what.value));
    return magnitude(dot_over(extents_, node.over, c,
                              map(
                                  extents_, [](double v) { return std::isfinite(v) ? v : 0.0; }, by_what.value)));
  };
  for (const auto& [symbol, c] : a.shared)
    if (common(symbol)) y.terms.left.emplace(symbol, folded(c, b));
  for (const auto& [symbol, c] : b.shared)
    if (common(symbol)) y.terms.right.emplace(symbol, folded(c, a));
}

bool Values::is_exact(const Node& node) const {
  switch (node.kind) {
    case Kind::input:
    case Kind::index: return true;
    case Kind::constant:
      // Exact in every format that accumulates.
      return !std::isfinite(node.number) || is_power_of_two_or_zero(node.number) ||
             (round_to(bf16, node.number) == node.number && round_to(f16, node.number) == node.number);
    case Kind::rounded_to: {
      const Node& of = graph_.nodes[static_cast<std::size_t>(node.arguments[0])];
      const bool adds = of.kind == Kind::add || of.kind == Kind::subtract;
      const auto exact = [&](int a) { return (*this)[a].exact; };
      return exact(node.arguments[0]) ||
             (adds && is_float(node.to) && std::all_of(of.arguments.begin(), of.arguments.end(), exact));
    }
    default: {
      const bool compares = node.kind == Kind::quotient || node.kind == Kind::less || node.kind == Kind::at_most;
      return (chooses(node.kind) || compares || is_staircase(node.kind)) &&
             std::all_of(node.arguments.begin(), node.arguments.end(), [&](int a) { return (*this)[a].exact; });
    }
  }
}

// 1 where a maximum or minimum is 0 and has zeros of both signs to choose from: a kernel may return either.
Field Values::zeros_of_both_signs(const Node& choice, const Field& chosen) const {
  const auto is_zero = [](double v) { return v == 0; };
  if (std::none_of(chosen.at.begin(), chosen.at.end(), is_zero)) return {};
  Field above, below;
  for (const int argument : choice.arguments) {
    const auto has = [&](bool negative) {
      return max_over(extents_, choice.over,
                      map(
                          extents_, [negative](double v) { return v == 0 && std::signbit(v) == negative ? 1.0 : 0.0; },
                          (*this)[argument].value));
    };
    above = map(extents_, larger, above, has(false));
    below = map(extents_, larger, below, has(true));
  }
  return map(
      extents_, [](double m, double a, double b) { return m == 0 ? a * b : 0.0; }, chosen, above, below);
}

// 1 where all terms of a sum are -0, counted by their signs: kernels that start at a term return -0 there.
Field Values::only_negative_zeros(const Node& sum) const {
  const Field& x = (*this)[sum.arguments[0]].value;
  const double terms = static_cast<double>(extents_.size(sum.over));
  if (std::ranges::none_of(x.at, [](double v) { return v == 0 && std::signbit(v); })) return {};
  const auto all_are = fold_each<1>(
      extents_, sum.over, {Fold::total}, [](double v) { return std::array{v == 0 && std::signbit(v) ? 1.0 : 0.0}; }, x);
  return map(
      extents_, [terms](double count) { return terms > 0 && count == terms ? 1.0 : 0.0; }, all_are[0]);
}

Known Values::known_of(int i) const {
  const Node& node = graph_.nodes[static_cast<std::size_t>(i)];
  Known y;
  if (node.kind == Kind::given || node.kind == Kind::result) return found(node);
  if (node.kind == Kind::scan) return {.value = {}, .results = scanned(i)};
  if (node.kind == Kind::input) {
    for (const Port& p : graph_.inputs)
      if (p.node == i) {
        if (!read_where_taken(i)) y.value = load(p);
        y.whole = info(p.dtype).format.precision == 0;
      }
  } else {
    y.value = compute(node);
  }
  switch (node.kind) {
    case Kind::input:
    case Kind::divide:
    case Kind::dot: break;
    case Kind::constant: y.whole = std::floor(node.number) == node.number && std::fabs(node.number) < 0x1p53; break;
    case Kind::index: y.whole = true; break;
    case Kind::take:
    case Kind::put: y.whole = (*this)[node.arguments[0]].whole; break;
    default:
      y.whole = (info(node.kind).group == Group::arithmetic || node.kind == Kind::sum || node.kind == Kind::max) &&
                std::all_of(node.arguments.begin(), node.arguments.end(), [&](int a) { return (*this)[a].whole; });
  }
  y.exact = y.whole || is_exact(node);
  const bool chooses = node.kind == Kind::max || node.kind == Kind::maximum || node.kind == Kind::minimum;
  if (chooses && y.exact && !y.whole) y.exact = zeros_of_both_signs(node, y.value).none();
  return y;
}

Known Values::visit(int i) const {
  const Node& node = graph_.nodes[static_cast<std::size_t>(i)];
  Known y = known_of(i);
  switch (node.kind) {
    case Kind::sum:
    case Kind::dot:
      if (!y.exact && need_ == Need::bounds) find_terms(i, y);
      break;
    case Kind::softmax:
    case Kind::softmax_or_zero:
    case Kind::logsumexp:
    case Kind::log_softmax: find_rows(i, y); break;
    default: break;
  }
  if (need_ == Need::values) return y;
  const auto multiplies = [i](const Node& n) {
    return n.kind == Kind::dot && std::find(n.arguments.begin(), n.arguments.end(), i) != n.arguments.end();
  };
  if (std::any_of(graph_.nodes.begin(), graph_.nodes.end(), multiplies)) {
    y.size = is_size(y.value) ? y.value
                              : map(
                                    extents_, [](double v) { return std::isfinite(v) ? std::fabs(v) : 0.0; }, y.value);
    y.squares = map(
        extents_, [](double v) { return v * v; }, y.size);
  }
  if (!y.exact) share(i, y);
  return y;
}

std::vector<double> Values::in_order_of(const Port& output, const Field& field) const {
  const Field whole = spread(extents_, set_of(output.axes), field);
  std::vector<double> out(whole.at.size());
  walk(output.axes, extents_, places_in(list_of(whole.axes), extents_),
       [&](std::size_t k, std::size_t i) { out[k] = whole.at[i]; });
  return out;
}

std::vector<double> Values::output(std::size_t number) const {
  const Port& port = graph_.outputs[number];
  return in_order_of(port, (*this)[port.node].value);
}

}  // namespace assay::formula
