// SPDX-License-Identifier: Apache-2.0
#include "reference/formula/rounded.hpp"

#include <algorithm>
#include <cmath>

#include "reference/formula/values.hpp"

namespace assay::formula {
namespace {

// Rounds by a policy.  Under one_lower the accumulator has 16 bits for f16 and bf16, and TF32's 11 for f32.  A formula that
// rounds only once may do so in the storage dtype itself: there the next lower precision is 8 bits for f16, and an 8-bit float's
// 4 for bf16.
class Rounding {
 public:
  Rounding(const Numerics& n, Roundings policy, DType storage, bool rounds_once)
      : exact_(policy == Roundings::exact), numerics_(n), storage_(storage), chip_(info(n.accumulate).format) {
    if (!exact_ && n.factors.precision != 0) factor_bits_ = n.factors.precision * n.factors.pieces;
    if (policy != Roundings::one_lower) return;
    const FloatFormat f = info(storage).format;
    if (storage == f32) chip_ = {11, 127, -126};
    else
      chip_ = rounds_once ? FloatFormat{storage == f16 ? 8 : 4, f.max_exponent, f.min_exponent} : f;
  }
  double operator()(double v) const { return exact_ ? v : round_to(chip_, v); }
  double factor(double v) const { return factor_bits_ == 53 ? v : round_to({factor_bits_, 127, -126}, v); }
  double stored(double v, Stored when) const {
    const bool stores = when == Stored::with_intermediates ? numerics_.stores_intermediate
                        : when == Stored::with_every_step  ? numerics_.stores_every_step
                                                           : numerics_.rounds_rotated;
    return stores && !exact_ ? round_to(storage_, v) : v;
  }

 private:
  bool exact_;
  Numerics numerics_;
  DType storage_;
  FloatFormat chip_;
  int factor_bits_ = 53;
};

// Calls add(to, a, b...) for each element of the fields, in order; `to` is the element of `out` that has the same indices.
template <class Add, class... Fields>
void add_up(const Extents& e, Field& out, Add&& add, const Fields&... fields) {
  const AxisSet axes = (out.axes | ... | fields.axes);
  if (e.size(axes) == 0) return;
  if (axes == 0) return add(out.at[0], fields.at[0]...);
  const detail::Loop loop(axes, e);
  const std::array<detail::Steps, 1 + sizeof...(Fields)> steps{loop.steps(out.axes), loop.steps(fields.axes)...};
  const auto last = static_cast<std::size_t>(loop.depth - 1);
  detail::each_row(loop, steps, [&](const auto& offset) {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      for (std::int64_t i = 0; i < loop.extent[last]; ++i)
        add(out.at[static_cast<std::size_t>(offset[0] + i * steps[0].stride[last])],
            fields.at[static_cast<std::size_t>(offset[K + 1] + i * steps[K + 1].stride[last])]...);
    }
    (std::index_sequence_for<Fields...>{});
  });
}

class Rounded final : public Interpretation {
 public:
  Rounded(const Values& exact, const Rounding& round) : exact_(exact), round_(round) {}

  Field value(const Values& values, int i) const override {
    if (exact_[i].exact) return exact_[i].value;
    const Node& node = values.graph().nodes[static_cast<std::size_t>(i)];
    const auto argument = [&](std::size_t k) -> const Field& { return values[node.arguments[k]].value; };
    const Extents& e = values.extents();
    Field out = Field::like(node.axes, e);
    switch (node.kind) {
      case Kind::constant: return Field::number(round_(node.number));
      case Kind::max:
      case Kind::take:
      case Kind::where: return values.compute(node);  // choose, and round nothing
      case Kind::step:
        return map(
            e, [&](double v) { return round_.stored(v, node.stored); }, argument(0));
      case Kind::sum:
        add_up(
            e, out, [&](double& to, double x) { to = round_(to + x); }, argument(0));
        return out;
      case Kind::dot:
        add_up(
            e, out, [&](double& to, double a, double b) { to = round_(to + round_.factor(a) * round_.factor(b)); }, argument(0),
            argument(1));
        return out;
      case Kind::softmax:
      case Kind::softmax_or_zero:
      case Kind::logsumexp:
      case Kind::log_softmax: return rows(e, node, argument(0));
      default: return rounded(e, values.compute(node));
    }
  }

 private:
  Field rounded(const Extents& e, const Field& f) const { return map(e, round_, f); }

  Field rows(const Extents& e, const Node& node, const Field& x) const {
    const Field top = map(
        e, [](double m) { return std::isinf(m) ? 0.0 : m; }, max_over(e, node.over, x));
    const Field exps = map(
        e, [&](double v, double m) { return round_(std::exp(round_(v - m))); }, x, top);
    Field sum = Field::like(x.axes & ~node.over, e);
    add_up(
        e, sum, [&](double& to, double v) { to = round_(to + v); }, exps);
    if (node.kind == Kind::softmax || node.kind == Kind::softmax_or_zero) {
      const bool or_zero = node.kind == Kind::softmax_or_zero;
      return map(
          e,
          [&](double v, double s) {
            return or_zero && s == 0 ? 0.0 : round_(round_.stored(v, Stored::with_intermediates) / s);
          },
          exps, sum);
    }
    const Field log_sum = map(
        e, [&](double s, double m) { return round_(round_(std::log(s)) + m); }, sum, top);
    if (node.kind == Kind::logsumexp) return log_sum;
    return map(
        e, [&](double v, double l) { return round_(v - l); }, x, log_sum);
  }

  const Values& exact_;
  const Rounding& round_;
};

}  // namespace

void evaluate_rounded(const Graph& graph, std::span<const Tensor> tensors, DType storage, const Numerics& numerics,
                      Roundings roundings, std::span<double> y) {
  const Values exact(graph, tensors);
  const auto rounds = [&](std::size_t i) {
    const Kind kind = graph.nodes[i].kind;
    return !exact[static_cast<int>(i)].exact && kind != Kind::step && kind != Kind::constant;
  };
  std::size_t rounding_nodes = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) rounding_nodes += rounds(i);
  const Rounding round(numerics, roundings, storage, rounding_nodes <= 1);
  const Rounded interpretation(exact, round);
  const Values values(graph, tensors, interpretation);
  const std::vector<double> first = values.output(0);
  std::ranges::copy(first, y.begin());
}

}  // namespace assay::formula
