// SPDX-License-Identifier: Apache-2.0
// Rules of numerics that declare another way to compute a LayerNorm: moments updated value by value, and an affine that is folded
// into the norm.  A formula's nodes say what is computed, so these are found by what they
// are made of: m = sum(x)/n, x - m, sum((x - m)^2)/n, (x - m) r gamma + beta.
//
// Running moments (Numerics::running_moments; Welford 1962), in one chain of n values:  M_k = M_{k-1} + (x_k - M_{k-1})/k,
// S_k = S_{k-1} + (x_k - M_{k-1})(x_k - M_k), var = S_n/n.  A = sum|x|, so |M_k| <= A/k; e_k is the error of M_k; q: the
// roundings of a division by n.
//   mean   step k rounds the difference, its quotient (2 where 1/k multiplies) and the sum: 3u|x_k - M_{k-1}|/k + u|M_k|.  The
//          step itself multiplies e_{k-1} by 1 - 1/k, so k e_k is the sum of k times these:
//          n|e_n| <= 3u (A + sum_{k<n} A/k) + u n A, so that of the mean is at most u (n + 6 + 3 ln n) mean|x|.
//          On the way, |e_k| <= u A (1 + 3 (2 + ln k)/k) <= 6u A = e: a mean on the way may be far above mean|x|.
//   var    the terms of S are positive: (n+q+3) u.  e enters both factors: e sum(|x - M_{k-1}| + |x - M_k|) + n e^2.
//          The terms add up to S = n var, (x - M_k)^2 is at most a term and (x - M_{k-1})^2 at most two, so by Cauchy and Schwarz
//          (1 + sqrt 2) e sqrt(var) + e^2.  It grows as n u mean|x|/sqrt(var), as known for it (Chan, Golub, LeVeque 1983).
//          Underflow takes half a least subnormal, s, of each term and of their mean: 2s.  That of M is nothing beside it: it
//          moves the variance by 2.42 s sqrt(var), which u var exceeds where sqrt(var) > s/u, and elsewhere 2s does, by 2^14 in
//          f16 and by more in others.
//
// A folded affine (Numerics::folded_affine), y = x a + b, a = r gamma, b = beta - mean a.  a rounds once in both, which the
// product's rounding pays for, as the last sum's does for that of y.  Left are mean a and x a, each rounded, and b:
// u (2|mean| + |x|) |r gamma| + u|beta|; a subnormal a is off by half the least subnormal, which x - mean multiplies.  So are
// both products where they are subnormal: one is a product of the formula too, and for the other its last sum pays, which then
// is exact.
//
// A sum of squares errs far to one side only.  With terms d that are off by e,
//   sum (d + e)^2 = sum d^2 + sum 2 d e + sum e^2,
// and the last sum only adds.  So it is too small by no more than D = |sum 2 d e|, where the error that all d share with their
// mean cancels, since sum d = 0.  Its roundings take a share of what there is: u of each square, g of the sum (the relative error
// of a sum of one sign, track_sums.cpp), so that at least (1 - u)(1 - g)(sum d^2 - D) is left, and D + (g + u) sum d^2 is lost at
// most, whatever sum e^2 adds; underflow loses half the least subnormal of each square.  The same holds of a mean of squares and
// of one to which epsilon is added: each operation takes u, a quotient Q u more, of a number that is at least 0.
#include <algorithm>
#include <cmath>

#include "reference/formula/track.hpp"

namespace assay::formula {
namespace {

// What a folded affine costs more, of an element x of a row with this mean.
double folded_affine_error(const Numerics& numerics, double x, double mean, double inverse_root, double gamma, double beta) {
  return unit_roundoff(numerics.accumulate) *
             ((2 * std::fabs(mean) + std::fabs(x)) * inverse_root * std::fabs(gamma) + std::fabs(beta)) +
         rounding_floor(numerics.accumulate) * std::fabs(x - mean);
}

// Nodes of a row that its mean is subtracted from; -1: none.
struct Centred {
  int of = -1;    // x
  int mean = -1;  // m
};

class Pattern {
 public:
  explicit Pattern(const Graph& graph) : graph_(graph) {}

  // The sum that a node divides by its number of terms; -1: it is no mean.
  int summed(int i) const {
    const Node& n = node(i);
    if (n.kind != Kind::divide || node(n.arguments[0]).kind != Kind::sum || node(n.arguments[1]).kind != Kind::constant)
      return -1;
    return node(n.arguments[1]).number == static_cast<double>(graph_.size(node(n.arguments[0]).over)) ? n.arguments[0] : -1;
  }
  Centred centred(int i) const {
    const Node& n = node(i);
    if (n.kind != Kind::subtract) return {};
    const int sum = summed(n.arguments[1]);
    return sum >= 0 && node(sum).arguments[0] == n.arguments[0] ? Centred{n.arguments[0], n.arguments[1]} : Centred{};
  }
  // Whether a row's mean is subtracted from it.
  bool centres(int mean) const {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (centred(static_cast<int>(i)).mean == mean) return true;
    return false;
  }
  // The row whose variance a node is.
  Centred varied(int i) const {
    const int sum = summed(i);
    if (sum < 0) return {};
    const Node& squares = node(node(sum).arguments[0]);
    const bool is_square =
        squares.kind == Kind::square || (squares.kind == Kind::multiply && squares.arguments[0] == squares.arguments[1]);
    return is_square ? centred(squares.arguments[0]) : Centred{};
  }
  const Node& node(int i) const { return graph_.nodes[static_cast<std::size_t>(i)]; }

 private:
  const Graph& graph_;
};

}  // namespace

bool Tracked::is_running_moment(int i) const {
  if (!declared_.numerics.running_moments) return false;
  const Pattern pattern(values_.graph());
  return pattern.summed(i) >= 0 && (pattern.centres(i) || pattern.varied(i).of >= 0);
}

Off Tracked::running_moment(int i) const {
  const Pattern pattern(values_.graph());
  const int sum = pattern.summed(i);
  const Centred row = pattern.varied(i);
  const bool is_mean = pattern.centres(i);
  const int of_mean = is_mean ? sum : node(row.mean).arguments[0], x = node(of_mean).arguments[0];
  const std::int64_t count = extents().size(node(sum).over);
  const auto terms = static_cast<double>(count);
  const auto additions = static_cast<double>(declared_.numerics.chain.roundings(count) + division_roundings(count));
  const double u = u_, low = floor_, share = (kept(declared_.errors, additions) + 3) * u;
  const auto error = [=](double size, double value) {
    const double mean_abs = size / terms;
    if (is_mean) return (terms + 6 + 3 * std::log(terms)) * u * mean_abs + terms * low;
    const double worst = 6 * u * terms * mean_abs;
    return 2.42 * worst * std::sqrt(value) + worst * worst + share * (value + worst * worst) + 2 * low;
  };
  // What x brings: it moves the mean by the mean of t, a difference by t and that, and the variance by 2 |d| t + t^2 of these.
  const Extents& e = extents();
  const AxisSet over = node(sum).over;
  const auto sum_of_row = [&](const Field& f) { return sum_over(e, over, spread(e, node(x).axes, f)); };
  const Field sum_of_t = total(x).none() ? Field{} : sum_of_row(total(x));
  const auto share_of_row = [terms](double t) { return t / terms; };
  Field brought = map(e, share_of_row, sum_of_t);
  if (!is_mean && !sum_of_t.none()) {
    const auto moved = [](double v, double m, double t, double of_m) {
      const double both = t + of_m;
      return both < kInfinity ? 2 * std::fabs(v - m) * both + both * both : kInfinity;
    };
    brought = map(e, share_of_row, sum_of_row(map(e, moved, values_[x].value, values_[row.mean].value, total(x), brought)));
  }
  const auto with_brought = [error](double size, double of_size, double value, double moved) {
    return error(size + of_size, value + moved) + moved;
  };
  return Off{.any = map(e, with_brought, values_[of_mean].terms.size, sum_of_t, values_[i].value, brought), .fresh = {}};
}

Field Tracked::too_small(int i) const {
  const Node& n = node(i);
  const Extents& e = extents();
  const double u = u_, low = floor_;
  // What an operation takes that rounds `share` times.
  const auto rounded_down = [&](const Field& brought, double share) {
    return map(
        e, [=](double t, double whole, double v) { return std::min(t + share * u * std::fabs(v) + low, whole); }, brought,
        total(i), values_[i].value);
  };
  if (n.kind == Kind::add) return rounded_down(plus(e, too_small(n.arguments[0]), too_small(n.arguments[1])), 1);
  if (n.kind == Kind::divide) {
    const Node& count = node(n.arguments[1]);
    const bool exact = count.kind == Kind::constant && count.number > 0 && total(n.arguments[1]).none();
    if (!exact || is_running_moment(i)) return total(i);
    const auto shrunk = [terms = count.number](double t) { return t / terms; };
    return rounded_down(map(e, shrunk, too_small(n.arguments[0])), 1 + declared_.numerics.quotient_error * 0x1p-24 / u);
  }
  if (n.kind != Kind::sum || node(n.arguments[0]).kind != Kind::square) return total(i);

  const int squares = n.arguments[0], terms_of = node(squares).arguments[0];
  const Terms& terms = values_[i].terms;
  if (terms.left.size() != values_[squares].shared.size()) return total(i);
  const Brought errors = brought(terms_of, node(squares).axes);
  const auto over_row = [&](const Field& f, auto each) {
    const Field moved = map(
        e, [](double d, double t) { return t < kInfinity ? by(2 * std::fabs(d), t) : kInfinity; }, values_[terms_of].value, f);
    return sum_over(e, n.over, spread(e, node(squares).axes, map(e, each, moved)));
  };
  const auto itself = [](double t) { return t; };
  const auto squared = [walk = deviations_counted() / errors.k](double t) { return walk * t * (walk * t); };
  Field first_order = map(
      e, [](double any, double worst, double walked) { return any + std::min(worst, std::sqrt(walked)); },
      over_row(*errors.any, itself), over_row(*errors.fresh, itself), over_row(*errors.fresh, squared));
  for (const auto& [symbol, c] : terms.left)
    first_order = map(
        e, [](double t, double coefficient, double error) { return t + by(coefficient, error); }, first_order, c, of(symbol));
  const double lost = static_cast<double>(e.size(n.over)) * (low + (declared_.numerics.flushes_storage ? 3 * 0x1p-126 : 0));
  return map(
      e, [&](double t, double whole, double size, double count) { return std::min(t + (grown(count) + u) * size + lost, whole); },
      first_order, total(i), terms.size, terms.count);
}

Field Tracked::folding(int i) const {
  const Pattern pattern(values_.graph());
  const Node& sum = node(i);
  if (sum.kind != Kind::add) return {};
  for (std::size_t k = 0; k < 2; ++k) {
    const Node& scaled = node(sum.arguments[k]);
    if (scaled.kind != Kind::multiply) continue;
    for (std::size_t g = 0; g < 2; ++g) {
      int normed = scaled.arguments[1 - g];
      while (node(normed).kind == Kind::step) normed = node(normed).arguments[0];
      if (node(normed).kind != Kind::multiply) continue;
      for (std::size_t r = 0; r < 2; ++r) {
        const Centred row = pattern.centred(node(normed).arguments[1 - r]);
        if (row.of < 0) continue;
        const auto error = [&](double x, double mean, double root, double gamma, double beta) {
          return folded_affine_error(declared_.numerics, x, mean, root, gamma, beta);
        };
        return map(extents(), error, values_[row.of].value, values_[row.mean].value, values_[node(normed).arguments[r]].value,
                   values_[scaled.arguments[g]].value, values_[sum.arguments[1 - k]].value);
      }
    }
  }
  return {};
}

}  // namespace assay::formula
