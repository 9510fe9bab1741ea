// SPDX-License-Identifier: Apache-2.0
// Rules of softmax, logsumexp and log_softmax (track.hpp).  p: a weight, d: an element's distance from its row's maximum, t: the
// error of an element of the argument, f: the relative error of exp.
//
//   exponent  x - max is off by t, and by u d for the difference and 2u d for a change of base: 3u (d + t).  The maximum's own
//             error is common to a row: it multiplies all of its exps alike and leaves the quotient, so it does not count.  An
//             online sum multiplies by exp(old max - new max) at each rescale: f + u each.  One FMA for an exponent: see
//             fused_exponent_error (contract.hpp), or any number where that may overflow.
//
//   sum       its terms' relative errors weigh by p: sum p r; independent ones as a walk, lambda sqrt(sum p^2 r^2).  n additions
//             of positive terms: n u.
//
//   excess    The above is of the first order.  If the logarithms of terms are off by b, |b| <= r, that of their sum is off by
//             log(sum p e^b) >= sum p b (Jensen), so downwards the first order is all, and upwards, since log x <= x - 1, by
//             no more than sum p b + sum p (e^r - 1 - r): the excess.  It counts where errors are so large that another element
//             may become the largest.
//
//   softmax   of element j: (1 - p_j) of its own exponent's error, sum over others p r, n u, and (1 + Q) u for the quotient.
//             If these add up to rho the weight is too large by a relative exp(rho) - 1 at most, and is never above 1.  It is too
//             small by 1 - exp(-rho - excess): p_j'/p_j = 1/(p_j + sum over others p e^(b - b_j)), so here the excess is that of
//             the others, each with r + r_j.  Of two errors below 1/4 it is p (r + r_j)^2 <= 2 p (r^2 + r_j^2) at most, of others
//             p e^(r + r_j).  A subnormal exp is off by half the least subnormal times its relative error in units, or vanishes.
//
//   log       the logarithm of a sum moves by no more than the largest of its terms' does, nor by more than the first order and
//             the excess.  log(s (1 + rho)) is off by
//             rho / (1 - rho), log itself by f |log s| and a change of base 2u |log s|; max + log s rounds.  In attention the
//             scale of scores is folded into the maximum (track_means.cpp), and its product with that is rounded before it is
//             added: 3u |max|.
#include <algorithm>
#include <cmath>

#include "ops/core/stored.hpp"
#include "reference/formula/track.hpp"

namespace assay::formula {
namespace {

constexpr auto if_finite = [](double error, double distance) { return std::isfinite(distance) ? error : 0.0; };

// The relative error of an element's exp: the function's, the exponent's own, and what its argument brings.
struct OfExponent {
  double u, f;
  double operator()(double any, double d, double t) const { return if_finite(any + 3 * u * (d + t) + f, d); }
};

// A term's part of a sum's excess, p (e^r - 1 - r), at most.  A weight of 0 in f64 counts too.
constexpr auto excess_of = [](double p, double r, double d, double log_sum) {
  if (p > 0 && r < kMostExponent) return by(p, r < 0.01 ? r * r : std::expm1(r) - r);
  return std::isfinite(d) ? std::exp(std::min(r - d - log_sum, kMostExponent)) : 0.0;
};

// The excess of others, for each weight of a softmax; r: errors of the logarithms of its terms.  Infinite if some r is.
Field excess_of_others(const Extents& e, AxisSet over, const RowParts& rows, const Field& r) {
  constexpr double kLittle = 0.25;
  constexpr auto is_large = [](double t, double d) { return t >= kLittle && std::isfinite(d); };
  // Of little errors sum p r^2; of large ones the largest r - d, of elements below the row's largest and of these.
  const auto [widest, squares, below, tops] = fold_each<4>(
      e, over, {Fold::largest, Fold::total, Fold::largest, Fold::largest},
      [is_large](double p, double t, double d) {
        const bool large = is_large(t, d);
        return std::array{t, large ? 0.0 : by(p, t * t), large && d > 0 ? t - d : -kInfinity, large && d == 0 ? t : -kInfinity};
      },
      rows.weight, r, rows.distance);
  constexpr auto of_little = [](double p, double t, double all) {
    return 2 * (std::max(all - p * t * t, 0.0) + (1 - p) * t * t);
  };
  if (std::ranges::all_of(widest.at, [](double t) { return t < kLittle; })) return map(e, of_little, rows.weight, r, squares);
  // Sums of e^(r - d) in units of the largest, and how many elements are the row's largest.
  const auto [sum_below, number_of_tops] = fold_each<2>(
      e, over, {Fold::total, Fold::total},
      [is_large](double t, double d, double most) {
        return std::array{is_large(t, d) && d > 0 ? std::exp(t - d - most) : 0.0, d == 0 ? 1.0 : 0.0};
      },
      r, rows.distance, below);
  return map(
      e,
      [of_little](double p, double t, double d, double most, double all, double most_below, double sum, double top, double alike,
                  double log_sum) {
        if (most == kInfinity) return kInfinity;
        const auto times = [&](double count, double exponent) {
          return count > 0 ? count * std::exp(std::min(exponent + t - log_sum, kMostExponent)) : 0.0;
        };
        const double of_large = times(sum, most_below) + (d == 0 && alike == 1 ? 0.0 : times(alike, top));
        return of_large + (t < kLittle ? of_little(p, t, all) : (1 - p) * std::exp(std::min(t + kLittle, kMostExponent)));
      },
      rows.weight, r, rows.distance, widest, squares, below, sum_below, tops, number_of_tops, rows.log_sum);
}

}  // namespace

// The roundings of a sum of `count` positive terms.
double Tracked::additions(double count) const {
  return kept(declared_.errors,
              std::max(0.0, static_cast<double>(declared_.numerics.chain.roundings(static_cast<std::int64_t>(count)))));
}

// Among n elements in random order the number of new maxima has mean and variance below 1 + ln n (Renyi 1962).
Field Tracked::rescales(const RowParts& rows, bool in_random_order) const {
  const Chain& chain = declared_.numerics.rescales;
  if (!chain.lanes) return {};
  return map(
      extents(),
      [&](double exps) {
        if (exps < 1) return 0.0;
        const auto most = static_cast<double>(chain.roundings(static_cast<std::int64_t>(exps)));
        const double expected = 1 + std::log(exps);
        if (coherent() || !in_random_order) return most;
        return std::min(most, expected + deviations(declared_.errors) * std::sqrt(expected));
      },
      rows.count);
}

Off Tracked::along_rows(int i) const {
  const Kind kind = node(i).kind;
  return kind == Kind::softmax || kind == Kind::softmax_or_zero ? weigh(i) : log_of_sum(i);
}

Off Tracked::weigh(int i) const {
  const Node& n = node(i);
  const Extents& e = extents();
  const RowParts& rows = values_[i].rows;
  Off x = alone(n.arguments[0]);
  x.any = map(e, OfExponent{u_, function_}, x.any, rows.distance, total(n.arguments[0]));
  if (!x.fresh.none()) x.fresh = map(e, if_finite, x.fresh, rows.distance);
  const Numerics& numerics = declared_.numerics;
  const double u = u_, low = floor_, walk = deviations_counted();
  const auto weighted = [&](const Field& f) {
    return map(
        e, [](double p, double r) { return by(p, r); }, rows.weight, f);
  };

  const Field of_any = weighted(x.any);
  Field from_others = map(
      e, [](double all, double own) { return std::max(all - own, 0.0); }, sum_over(e, n.over, of_any), of_any);
  if (!x.fresh.none()) {
    const Field of_fresh = weighted(x.fresh);
    const Field squares = map(
        e, [s = walk / x.k](double r) { return s * r * (s * r); }, of_fresh);
    const Field others = map(
        e,
        [](double all, double own, double all_squares, double own_square) {
          return std::min(std::max(all - own, 0.0), std::sqrt(std::max(all_squares - own_square, 0.0)));
        },
        sum_over(e, n.over, of_fresh), of_fresh, sum_over(e, n.over, squares), squares);
    from_others = plus(e, from_others, others);
  }
  const double quotient = (1 + numerics.quotient_error) * u;
  const Field rescaled = rescales(rows, false);
  const Field of_sum = map(
      e, [&](double count, double times) { return additions(count) * u + times * (function_ + u); }, rows.count, rescaled);
  Field fused;
  if (numerics.fused_exponent)
    fused = map(
        e,
        [&](double top, double s, double times) {
          return overflows_where_largest(top) ? kInfinity : fused_exponent_error(numerics, 2, times, top, s);
        },
        rows.top, rows.spread, rescaled);
  const double subnormal = (numerics.flushes_subnormals ? 1 / u : numerics.function_error) * low + low;
  const Field own = plus(e, x.any, x.fresh);
  const Field rest = plus(e, plus(e, from_others, of_sum), fused);
  const auto overflows = [](double exponent) { return exponent < kInfinity ? 0.0 : kInfinity; };
  const Field excess = plus(e, excess_of_others(e, n.over, rows, own), fused.none() ? fused : map(e, overflows, fused));
  const Field off = map(
      e,
      [quotient, subnormal](double p, double exponent, double others, double d, double log_sum, double beyond) {
        if (std::isnan(p)) return 0.0;
        if (std::isinf(beyond)) return kInfinity;  // a score that may be infinite, or NaN
        const double rho = exponent * (1 - p) + others + quotient;
        // From rho = 1 on the largest that the weight may be, so that one which is 0 in f64 counts too.
        const double grown = rho < 1 ? p * std::expm1(rho) : std::isfinite(d) ? std::exp(std::min(rho - d - log_sum, 0.0)) : 0.0;
        return std::max(grown, p * -std::expm1(-rho - beyond)) + subnormal;
      },
      rows.weight, own, rest, rows.distance, rows.log_sum, excess);
  Off result{.any = off, .fresh = {}};
  const std::optional<DType> exps_as = stored_as(kExps);
  Off stored_exps = exps_as ? stored(i, std::move(result), *exps_as) : std::move(result);
  const std::optional<DType> weights_as = is_read(values_.graph(), n) ? stored_as(kWeights) : std::nullopt;
  return weights_as ? stored(i, std::move(stored_exps), *weights_as) : stored_exps;
}

Off Tracked::log_of_sum(int i) const {
  const Node& n = node(i);
  const Extents& e = extents();
  const RowParts& rows = values_[i].rows;
  const Numerics& numerics = declared_.numerics;
  const double u = u_, low = floor_, f = function_;
  const Off x = alone(n.arguments[0]);
  // What the terms bring, to the sum and at most: `any` and the excess add up, `fresh` as a walk.
  const auto [sum, all, squares, widest] = fold_each<4>(
      e, n.over, {Fold::total, Fold::total, Fold::total, Fold::largest},
      [of_exponent = OfExponent{u, f}, s = deviations_counted() / x.k](double p, double any, double fresh, double d, double t,
                                                                       double log_sum) {
        const double common = of_exponent(any, d, t), own = if_finite(fresh, d), weighted = by(p, own);
        return std::array{by(p, common) + excess_of(p, common + own, d, log_sum), weighted, s * weighted * (s * weighted),
                          common + own};
      },
      rows.weight, x.any, x.fresh, rows.distance, total(n.arguments[0]), rows.log_sum);
  const Field rho = map(
      e, [](double certain, double most, double walk) { return certain + std::min(most, std::sqrt(walk)); }, sum, all, squares);
  Numerics folded = numerics;
  const bool of_mean = is_of_mean(i);
  folded.fused_exponent = numerics.fused_exponent || of_mean;
  const Field rescaled = rescales(rows, of_mean);
  const double subnormal =
      static_cast<double>(e.size(n.over)) * (numerics.flushes_subnormals ? 1 / u : numerics.function_error) * low;
  const Field of_log = map(
      e,
      [&](double brought, double most, double count, double log_sum, double top, double s, double times) {
        const double chain = additions(count) * u + times * (f + u);
        if (folded.fused_exponent && overflows_where_largest(top)) return kInfinity;
        const double fused = fused_exponent_error(folded, 1, times, top, s) + (of_mean ? 3 * u * std::fabs(top) : 0.0);
        const double moved =
            std::min(compounded(brought + chain + fused + subnormal), most + fused + compounded(chain + subnormal + f));
        return moved + (f + 2 * u) * std::fabs(log_sum);
      },
      rho, widest, rows.count, rows.log_sum, rows.top, rows.spread, rescaled);
  const auto rounding = [u, low](double y, double t) { return t + u * ((std::isfinite(y) ? std::fabs(y) : 0.0) + t) + low; };
  if (n.kind == Kind::logsumexp)
    return {.any = map(
                e, [&](double y, double t) { return std::isfinite(y) ? rounding(y, t) : 0.0; }, values_[i].value, of_log),
            .fresh = {}};
  const Field own = map(
      e,
      [&](double y, double log_error, double d, double t) { return std::isfinite(y) ? rounding(y, log_error + t) + u * d : 0.0; },
      values_[i].value, of_log, rows.distance, total(n.arguments[0]));
  return {.any = own, .fresh = {}};
}

}  // namespace assay::formula
