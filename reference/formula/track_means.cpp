// SPDX-License-Identifier: Apache-2.0
// The rule of a mean o = sum p v by the weights p of a softmax: a dot of a softmax and v along the same axes, as in attention.
// u: unit roundoff of the accumulator; f, Q: relative errors of exp
// and of a quotient; d: a score's distance from its row's maximum; t: bound on the error of the logarithm of a weight w.
//
//   weights  t adds up what the argument brings (t_x); 3u (d + t_x) for the exponent (track_rows.cpp); u max|x|, as kernels fold
//            the scale and the change of base into one FMA, which rounds the product with the maximum; and f for exp.  Where the
//            exp of d - t is below half the least subnormal, as of scores to which a mask adds -10^4, a weight is 0 in any
//            kernel.
//
//            An online sum multiplies by exp(old max - new max) at each rescale: f + u for the factor, u for the product and
//            u max|x| for the maximum's own rounding.  Among n elements in random order the number of new maxima has mean and
//            variance below 1 + ln n (Renyi 1962).
//
//            As sum p (v - o) = 0, o moves by sum p (w'/w - 1)(v - o) over sum p w'/w.  By Cauchy's inequality that is at most
//            sqrt(sum p (e^t - 1)^2) sqrt(sum p (v - o)^2) / sum p e^-t; and never more than max|v| + |o|, as any weights give
//            a mean of v.
//
//   sums     The products and their sum are a dot's (gemm_bound.hpp), whose weights have moved by e^t.  The sum of exps errs by u
//            for each addition, and the quotient by (2 + Q) u.
//
//   stored   Where exps or the weights themselves are rounded before the product, with either form in the sum of exps:
//            sum p eta (v - o), a walk if errors are independent, else the worst case.  eta is uniform within u: a deviation of
//            u/sqrt(3), 0.58 u.
//
//   lost     What is below the least normal value vanishes or becomes subnormal.  For an exp the loss is relative to the largest,
//            which is 1; for a weight to their sum.
//
//   v        brings sum p t_v.  Times an infinite v a weight that a kernel may lose gives NaN in place of infinity.
#include <algorithm>
#include <cmath>

#include "ops/core/gemm_bound.hpp"
#include "ops/core/stored.hpp"
#include "reference/formula/track.hpp"

namespace assay::formula {
namespace {

// From here on, in logarithms, nothing is known of a weight.
constexpr double kWidest = 300;
// The exp of minus this is below half the least subnormal of f32.
constexpr double kGone = 104;
// Up to here exp is bounded by a polynomial.
constexpr double kNarrow = 0.5;

}  // namespace

// Whether a softmax is used for means only, so that its own error is not asked for.
bool Tracked::weighs_means_alone(int softmax) const {
  const Graph& graph = values_.graph();
  for (const Node& n : graph.nodes)
    if (std::find(n.arguments.begin(), n.arguments.end(), softmax) != n.arguments.end() && mean_of(graph, n).weights != softmax)
      return false;
  return std::none_of(graph.outputs.begin(), graph.outputs.end(), [softmax](const Port& p) { return p.node == softmax; });
}

// Whether a mean is taken by weights of the same elements.  There kernels fold the scale of scores and the change of base into
// one FMA, whatever they declare.
bool Tracked::is_of_mean(int row_function) const {
  const Graph& graph = values_.graph();
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& n) {
    const int weights = mean_of(graph, n).weights;
    return weights >= 0 && node(weights).arguments == node(row_function).arguments;
  });
}

// What adds to the error of the logarithm of each weight of a row.
Field Tracked::off_in_logarithm(int softmax) const {
  const RowParts& rows = values_[softmax].rows;
  return map(
      extents(),
      [this, u = u_, f = function_](double x, double top, double times) {
        return overflows_where_largest(top) ? kInfinity : u * x * (1 + times) + f + times * (f + 2 * u);
      },
      rows.largest, rows.top, rescales(rows, true));
}

Off Tracked::mean_up(int i) const {
  const Node& n = node(i);
  const Extents& e = extents();
  const Mean mean = mean_of(values_.graph(), n);
  const Field &p = values_[mean.weights].rows.weight, &v = values_[mean.of].value;
  const RowParts& rows = values_[mean.weights].rows;
  const Terms& terms = values_[i].terms;
  const Numerics& numerics = declared_.numerics;

  const Field& t_of_x = total(node(mean.weights).arguments[0]);
  const Field of_row = off_in_logarithm(mean.weights);
  // Of the x by which the logarithms of weights are off: the largest, sum w (e^x - 1)^2 and sum w e^-x.
  const auto folded = [&](auto grown, auto shrunk) {
    return fold_each<3>(
        e, n.over, {Fold::largest, Fold::total, Fold::total},
        [u = u_, grown, shrunk](double w, double t, double d, double row) {
          const double off = t + 3 * u * (d + t) + row, x = std::isfinite(d) && (w > 0 || d - off < kGone) ? off : 0.0,
                       more = grown(x);
          return std::array{x, w == 0 ? 0.0 : w * more * more, w == 0 ? 0.0 : w * shrunk(x)};
        },
        p, t_of_x, rows.distance, of_row);
  };
  // Up to kNarrow e^x - 1 is at most x + x^2.  Where all are, the loop holds no decision.
  constexpr auto grown_little = [](double x) { return x * (1 + x); };
  constexpr auto shrunk_little = [](double x) { return 1 - x; };
  auto off = folded(grown_little, shrunk_little);
  if (std::any_of(off[0].at.begin(), off[0].at.end(), [](double x) { return !(x < kNarrow); }))
    off = folded([=](double x) { return x < kNarrow ? grown_little(x) : std::expm1(std::min(x, kWidest)); },
                 [=](double x) { return x < kNarrow ? shrunk_little(x) : std::exp(-x); });
  const auto& [widest, moved, left] = off;
  const Field moves = map(
      e, [](double squares, double rest) { return rest > 0 ? std::sqrt(squares) / rest : 0.0; }, moved, left);
  Field brought;
  if (!values_[mean.of].exact) {
    const Field of_v = spread(e, v.axes, total(mean.of));
    constexpr auto finite = [](double t) { return t < kInfinity ? t : 0.0; };
    constexpr auto is_infinite = [](double t) { return static_cast<double>(!(t < kInfinity)); };
    const bool all_finite = std::ranges::all_of(of_v.at, [](double t) { return t < kInfinity; });
    brought = dot_over(e, n.over, p, all_finite ? of_v : map(e, finite, of_v));
    const int condition = condition_of(values_.graph(), node(mean.weights));
    if (!all_finite)  // of what is seen, whatever its weight
      brought = map(
          e, [](double t, double infinite) { return infinite > 0 ? kInfinity : t; }, brought,
          dot_over(e, n.over, condition < 0 ? Field::ones() : values_[condition].value, map(e, is_infinite, of_v)));
  }

  const std::optional<DType> exps_as = stored_as(kExps), weights_as = stored_as(kWeights);
  const auto unit = [](const std::optional<DType>& t) { return t ? unit_roundoff(*t) : 0.0; };
  const double u = u_, u_stored = unit(exps_as) + unit(weights_as);
  const double least_exp = std::max(exps_as ? rounding_floor(*exps_as) : 0.0, numerics.flushes_subnormals ? 0x1p-126 : 0.0);
  const double least_weight = weights_as ? std::max(rounding_floor(*weights_as), least_exp) : 0.0;
  const double walk = 0.58 * deviations_counted();
  const auto whole = [&](double o, double moves_of_row, double widest_of_row, double largest, double unhidden, double spread_of_v,
                         double size, double root, double exps, double squares, double log_sum, double of_v) {
    if (!std::isfinite(o)) return 0.0;
    if (widest_of_row == kInfinity) return kInfinity;  // a score that may be infinite, or NaN
    if (exps == 0) return kEitherZero;  // sees nothing: 0, but weights of 0 times negative numbers may add up to -0
    const double farthest = std::min(largest, unhidden), far = farthest + std::fabs(o),
                 grown = std::exp(std::min(2 * widest_of_row, 2 * kWidest));
    double error = (widest_of_row < kWidest ? std::min(moves_of_row * spread_of_v, far) : far) + by(of_v, grown);
    // With the weights as they are off, which still add up to 1.
    const double off_o = std::fabs(o) + error;
    const double off_size = std::min(by(grown, size), farthest), off_root = std::min(by(grown, root), farthest);
    const auto count = static_cast<std::int64_t>(exps);
    const double additions = walked(declared_.errors, static_cast<double>(numerics.chain.roundings(count)));
    error += product_error(numerics, declared_.errors, count, off_o, off_size, off_root * off_root) +
             (additions + 2 + numerics.quotient_error) * u * off_o;
    const double worst = off_size + off_o, walked_off = walk * (off_root + off_o * std::min(grown * std::sqrt(squares), 1.0));
    error += u_stored * (coherent() ? worst : std::min(worst, walked_off));
    error += by(least_exp, unhidden) / std::exp(log_sum) + by(least_weight, unhidden);
    return error + (numerics.flushes_storage ? 2 * 0x1p-126 : 0.0);
  };
  Field error = map(e, whole, values_[i].value, moves, widest, terms.farthest, terms.unhidden, terms.spread, terms.size,
                    terms.root, rows.count, rows.squares, rows.log_sum, brought);
  if (std::ranges::none_of(v.at, [](double value) { return std::isinf(value); })) return {.any = std::move(error), .fresh = {}};
  // Of the keys with an infinite value, minus the logarithm of the least weight.
  const auto faintness = [](double value, double d, double log_sum) {
    return std::isinf(value) && std::isfinite(d) ? d + std::max(log_sum, 0.0) : 0.0;
  };
  const Field faintest = max_of(e, n.over, faintness, v, rows.distance, rows.log_sum);
  const double least = std::max({0x1p-126, least_exp, least_weight}), vanishes = -std::log(least);
  const auto may_be_nan = [vanishes](double of, double o, double faint, double x) {
    return std::isinf(o) && faint + x > vanishes ? kInfinity : of;
  };
  return {.any = map(e, may_be_nan, error, values_[i].value, faintest, widest), .fresh = {}};
}

}  // namespace assay::formula
