// SPDX-License-Identifier: Apache-2.0
#include "reference/formula/rounded.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "ops/core/one_lower.hpp"
#include "ops/core/stored.hpp"
#include "reference/formula/scan.hpp"
#include "reference/formula/values.hpp"
#include "reference/formula/words.hpp"

namespace assay::formula {
namespace {

// Rounds by a policy.  Under one_lower the accumulator has 16 bits for f16 and bf16, and TF32's 11 for f32.  A formula that
// rounds only once may do so in the storage dtype itself (one_lower.hpp).
class Rounding {
 public:
  Rounding(const Numerics& n, Roundings policy, DType storage, bool rounds_once)
      : exact_(policy == Roundings::exact), numerics_(n), storage_(storage), chip_(info(n.accumulate).format) {
    if (!exact_ && n.factors.precision != 0) factor_bits_ = n.factors.precision * n.factors.pieces;
    if (policy != Roundings::one_lower) return;
    chip_ = storage == f32 || rounds_once ? one_lower(storage) : info(storage).format;
  }
  double operator()(double v) const { return exact_ ? v : round_to(chip_, v); }
  bool cancels() const { return numerics_.cancelling_gelu && !exact_; }
  double factor(double v) const { return factor_bits_ == 53 ? v : round_to({factor_bits_, 127, -126}, v); }
  // A step's result as the next one reads it.
  double stored(double v, std::string_view step) const {
    const std::optional<DType> to = exact_ ? std::nullopt : stored_as(numerics_, step, storage_);
    return to ? round_to(*to, v) : v;
  }

 private:
  bool exact_;
  Numerics numerics_;
  DType storage_;
  FloatFormat chip_;
  int factor_bits_ = 53;
};

// A sum over all axes that the result lacks, one term after the other: sum = add(sum, elements of the fields...).
template <class Add, class... Fields>
Field add_up(const Extents& e, AxisSet kept, Add&& add, const Fields&... fields) {
  constexpr std::size_t N = 1 + sizeof...(Fields);
  const AxisSet axes = (kept | ... | fields.axes);
  Field out = Field::like(kept, e, 0);
  double* const sums = out.at.own();
  const std::array<AxisSet, N> of{kept, fields.axes...};
  const detail::Loop loop(axes, axes & ~kept, e, of);
  const std::array<const double*, N> from{sums, fields.at.data()...};
  std::array<detail::Steps, N> steps;
  std::array<std::int64_t, N> step{};  // along the innermost axis
  for (std::size_t n = 0; n < N; ++n) {
    steps[n] = loop.steps(of[n]);
    if (loop.depth) step[n] = steps[n].stride[loop.last()];
  }
  detail::each_row(loop, steps, [&](const detail::Offsets& offset) {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      for (std::int64_t i = 0; i < loop.inner(); ++i) {
        double& sum = sums[offset[0] + i * step[0]];
        sum = add(sum, from[K + 1][offset[K + 1] + i * step[K + 1]]...);
      }
    }
    (std::index_sequence_for<Fields...>{});
  });
  return out;
}

// Whether a result is not finite that is so in exact arithmetic, or an exponential is infinite of a finite exponent even there,
// so that rounding decides what is made of it.  `stored`: outputs are stored, so that what their dtype does not hold is infinite
// in every kernel; but not where they are sums, whose terms another order may let overflow or not.
bool overflows(const Values& exact, const Values& rounded, bool stored) {
  const Graph& graph = exact.graph();
  for (int i = 0; i < static_cast<int>(graph.nodes.size()); ++i) {
    const Node& node = graph.nodes[static_cast<std::size_t>(i)];
    const auto output = std::ranges::find(graph.outputs, i, &Port::node);
    const bool is_stored = stored && output != graph.outputs.end() && info(node.kind).group == Group::arithmetic;
    const auto right = [&](double v) { return is_stored ? round_to(output->dtype, v) : v; };
    const auto is_beyond = [&](double a, double b) { return std::isfinite(right(a)) && !std::isfinite(b) ? 1.0 : 0.0; };
    Field beyond = map(exact.extents(), is_beyond, exact[i].value, rounded[i].value);
    if (node.kind == Kind::exp)
      beyond = plus(exact.extents(), beyond, map(exact.extents(), is_beyond, exact[node.arguments[0]].value, exact[i].value));
    if (std::ranges::any_of(beyond.at, [](double is) { return is != 0; })) return true;
  }
  return false;
}

// Whether no element of the first output is rounded more than once before it is stored.
bool rounds_once(const Values& exact) {
  const Graph& graph = exact.graph();
  std::vector<bool> is_needed(graph.nodes.size(), false);
  is_needed[static_cast<std::size_t>(graph.outputs[0].node)] = true;
  int roundings = 0;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    if (!is_needed[i]) continue;
    const Node& n = graph.nodes[i];
    for (const int argument : n.arguments) is_needed[static_cast<std::size_t>(argument)] = true;
    if (exact[static_cast<int>(i)].exact || chooses(n.kind) || n.kind == Kind::constant || n.kind == Kind::step) continue;
    const Group group = info(n.kind).group;
    const bool many = group == Group::reduction || group == Group::row_function || group == Group::recurrence;
    roundings += many ? 2 : 1;
  }
  return roundings <= 1;
}

class Rounded final : public Interpretation {
 public:
  Rounded(const Values& exact, const Rounding& round) : exact_(exact), round_(round) {}
  bool overflowed() const { return overflowed_; }

  Known known(const Values& values, int i) const override {
    const Node& node = values.graph().nodes[static_cast<std::size_t>(i)];
    if (node.kind == Kind::given || node.kind == Kind::result) return values.found(node);
    if (node.kind == Kind::scan) return {.value = {}, .results = scanned(values, i)};
    return {.value = value(values, i)};
  }

 private:
  // Step by step, beside the same in exact arithmetic.
  std::vector<Known> scanned(const Values& values, int i) const {
    Scan exact(exact_, i), own(values, i);
    while (!own.ended()) {
      const Values exact_step(exact.body(), exact.given(), values.part());
      const Rounded rounded_step(exact_step, round_);
      const Values step(own.body(), own.given(), values.part(), &rounded_step);
      overflowed_ = overflowed_ || rounded_step.overflowed_ || overflows(exact_step, step, false);
      own.advance(step);
      exact.advance(exact_step);
    }
    return std::move(own).results();
  }

  Field value(const Values& values, int i) const {
    if (exact_[i].exact) return exact_[i].value;
    const Node& node = values.graph().nodes[static_cast<std::size_t>(i)];
    const auto argument = [&](std::size_t k) -> const Field& { return values[node.arguments[k]].value; };
    const Extents& e = values.extents();
    switch (node.kind) {
      case Kind::constant: return Field::number(round_(node.number));
      case Kind::max: return max_over(e, node.over, argument(0));  // Note: compute() would take it from a softmax before it
      case Kind::take:
      case Kind::put:
      case Kind::where: return values.compute(node);  // choose, and round nothing
      case Kind::step:
        return map(
            e, [&](double v) { return round_.stored(v, node.name); }, argument(0));
      case Kind::sum:
        return add_up(
            e, node.axes, [&](double sum, double x) { return round_(sum + x); }, argument(0));
      case Kind::dot: {
        const auto add = [&](double sum, double a, double b) { return round_(sum + round_.factor(a) * round_.factor(b)); };
        const Values::Read read = values.read_by(node);
        if (read.weights < 0) return add_up(e, node.axes, add, argument(0), argument(1));
        return add_up(
            e, node.axes, [&](double sum, double seen, double a, double b) { return seen != 0 ? add(sum, a, b) : sum; },
            read.seen, argument(0), argument(1));
      }
      case Kind::sigmoid:
      case Kind::silu:
      case Kind::gelu_tanh:
      case Kind::gelu_erf:
        return map(
            e, [&, kind = node.kind](double z) { return activate(kind, z); }, argument(0));
      case Kind::softmax:
      case Kind::softmax_or_zero:
      case Kind::logsumexp:
      case Kind::log_softmax: return rows(e, node, argument(0));
      default: return rounded(e, values.compute(node));
    }
  }

  // Step by step.
  double activate(Kind kind, double z) const {
    const double half = z / 2;
    switch (kind) {
      case Kind::gelu_erf: {
        const double argument = round_(z * round_(std::numbers::sqrt2 / 2));
        if (round_.cancels()) return round_(half * round_(1 + round_(std::erf(argument))));
        return round_(half * round_(std::erfc(-argument)));
      }
      case Kind::gelu_tanh: {
        const double cube = round_(round_(z * z) * z), inner = round_(z + round_(round_(0.044715) * cube));
        const double u = round_(round_(std::sqrt(2 / std::numbers::pi)) * inner);
        if (round_.cancels()) return round_(half * round_(1 + round_(std::tanh(u))));
        // 1 + tanh(u) = 2 e^2u / (1 + e^2u), without cancellation where u < 0
        return round_(half * round_(u < 0 ? 2 * std::exp(2 * u) / (1 + std::exp(2 * u)) : 1 + std::tanh(u)));
      }
      default: {  // with e^-|z|, which does not overflow
        const double t = round_(std::exp(-std::fabs(z))), sum = round_(1 + t);
        const double above = kind == Kind::silu ? (z < 0 ? round_(z * t) : z) : (z < 0 ? t : 1);
        return round_(above / sum);
      }
    }
  }

  Field rounded(const Extents& e, const Field& f) const {
    return map(
        e, [&](double v) { return round_(v); }, f);
  }

  Field rows(const Extents& e, const Node& node, const Field& x) const {
    const Field top = max_over(e, node.over, x);
    const Field exps = map(
        e, [&](double v, double m) { return round_(std::exp(round_(v - m))); }, x, top);
    const Field sum = add_up(
        e, x.axes & ~node.over, [&](double so_far, double v) { return round_(so_far + v); }, exps);
    if (node.kind == Kind::softmax || node.kind == Kind::softmax_or_zero) {
      const bool or_zero = node.kind == Kind::softmax_or_zero, is_weight = is_read(exact_.graph(), node);
      return map(
          e,
          [&](double v, double s, double m) {
            const double weight = or_zero && m == -kInfinity ? 0.0 : round_(round_.stored(v, kExps) / s);
            return is_weight ? round_.stored(weight, kWeights) : weight;
          },
          exps, sum, top);
    }
    if (node.kind == Kind::logsumexp)
      return map(
          e, [&](double s, double m) { return std::isinf(m) ? m : round_(round_(std::log(s)) + m); }, sum, top);
    return map(
        e, [&](double v, double s, double m) { return round_(round_(v - m) - round_(std::log(s))); }, x, sum, top);
  }

  const Values& exact_;
  const Rounding& round_;
  mutable bool overflowed_ = false;  // in a step of a scan
};

}  // namespace

bool evaluate_rounded(const Graph& all, std::span<const Tensor> tensors, DType storage, const Numerics& numerics,
                      Roundings roundings, std::span<const std::span<double>> outputs) {
  const Graph graph = decided(all, roundings == Roundings::exact ? "" : numerics.ways);
  const Values exact(graph, tensors, {}, nullptr, Need::values);
  const Rounding round(numerics, roundings, storage, rounds_once(exact));
  const Rounded interpretation(exact, round);
  const Values values(graph, tensors, interpretation);
  // What every kernel has exactly, such as a copy, a lower precision has not.
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (outputs[k].empty()) continue;
    const bool lowers = roundings == Roundings::one_lower && exact[graph.outputs[k].node].exact;
    std::ranges::transform(values.output(k), outputs[k].begin(), [&](double v) { return lowers ? round(v) : v; });
  }
  return interpretation.overflowed() || overflows(exact, values, true);
}

}  // namespace assay::formula
