// SPDX-License-Identifier: Apache-2.0
// Rules of sums and products (track.hpp).  n: the roundings of a chain, A = sum |x|, S = sqrt(sum x^2), c: the exact value.
//
// Subnormal factors, sums in memory and results that vanish (Numerics::flushes_storage): at most 2^-126 for each, of a factor
// times the other one.
//
// What the terms bring: `any` adds up; of independent `fresh` errors the least of their sum and a walk; a shared error multiplies
// the sum of its coefficients, or where it belongs to the axes that are summed, the sum of their sizes.
//
// The additions: as gemm_bound.hpp derives, n u A at most, and a walk of lambda sqrt(n) u (S + |c|) if errors are independent.  A
// chain has at most as many roundings as terms that are not 0, as adding 0 is exact.  The roundings of one sum are independent of
// another's, so the walk is a fresh error of the result.  Its deviation is u sqrt(n/3) (S + |c|): what is counted is lambda
// sqrt(3) of these, or where the worst case is less, n u A, sqrt(3n) of them.  Where all terms have one sign the partial sums
// grow steadily, and an order that rounds all of them the same way is likely enough: there the worst case counts, as `any`.
#include <algorithm>
#include <cmath>

#include "ops/core/gemm_bound.hpp"
#include "reference/formula/track.hpp"

namespace assay::formula {
double Tracked::roundings(double count) const {
  return std::max(0.0, static_cast<double>(declared_.numerics.chain.roundings(static_cast<std::int64_t>(count))));
}

double Tracked::grown(double count) const {
  const double chain = compounded(roundings(count) * u_);
  return u_ > unit_roundoff(f32) ? std::min(chain, count * u_) : chain;
}

Off Tracked::add_up(int i) const {
  const Node& n = node(i);
  const int argument = n.arguments[0];
  const Known& x = values_[argument];
  const Terms& terms = values_[i].terms;
  const Off& off = off_[static_cast<std::size_t>(argument)];
  const auto sum = [&](const Field& f) {
    return f.none() ? Field{} : sum_over(extents(), n.over, spread(extents(), x.value.axes, f));
  };

  Field any = sum(off.any);
  for (const auto& [symbol, c] : x.shared) {
    const auto folded = terms.left.find(symbol);
    const Field error = folded != terms.left.end()
                            ? map(
                                  extents(), [](double a, double b) { return by(a, b); }, folded->second, of(symbol))
                            : sum(map(
                                  extents(), [](double a, double b) { return by(std::fabs(a), b); }, c, of(symbol)));
    any = plus(extents(), any, error);
  }
  Field fresh;
  if (!off.fresh.none()) {
    const double count = deviations_counted() / off.k;
    fresh = map(
        extents(), [count](double all, double squares) { return std::min(all, count * std::sqrt(squares)); }, sum(off.fresh),
        sum(map(
            extents(), [](double f) { return f * f; }, off.fresh)));
  }

  const Numerics& numerics = declared_.numerics;
  const double u = u_, walk = deviations(declared_.errors);
  double fewest = kInfinity;
  for (const double count : terms.count.at) fewest = std::min(fewest, roundings(count));
  const Field size = plus(extents(), terms.size, sum(total(argument)));
  const Field worst = map(
      extents(),
      [&](double count, double magnitude) {
        return by(grown(count), magnitude) +
               (numerics.flushes_storage ? 3 * static_cast<double>(extents().size(n.over)) * 0x1p-126 : 0.0);
      },
      terms.count, size);
  if (coherent()) return {plus(extents(), plus(extents(), any, fresh), worst), {}, deviations_counted()};
  const Field of_walk = map(
      extents(),
      [&](double count, double root, double value, double most) {
        return std::min(most, walk * std::sqrt(roundings(count)) * u * (root + std::fabs(value)));
      },
      terms.count, terms.root, values_[i].value, worst);
  // Note: exactly, as both add the same numbers in the same order.
  const auto one_sided = [](double value, double magnitude) { return std::fabs(value) == magnitude; };
  const Field certain = map(
      extents(), [&](double value, double magnitude, double most) { return one_sided(value, magnitude) ? most : 0.0; },
      values_[i].value, terms.size, worst);
  const Field random = map(
      extents(), [&](double value, double magnitude, double w) { return one_sided(value, magnitude) ? 0.0 : w; },
      values_[i].value, terms.size, of_walk);
  const double k = std::sqrt(3 * std::clamp(fewest, 1.0, kLambda * kLambda));
  return {plus(extents(), any, certain), plus(extents(), fresh, random), std::min(deviations_counted(), k)};
}

Off Tracked::multiply_up(int i) const {
  const Node& n = node(i);
  const Extents& e = extents();
  const int left = n.arguments[0], right = n.arguments[1];
  const Known &a = values_[left], &b = values_[right];
  const Terms& terms = values_[i].terms;
  const auto dot = [&](const Field& x, const Field& y) { return dot_over(e, n.over, x, y); };
  const Values::Read read = values_.read_by(n);
  // Of a factor's error what is read: an error that is hidden may be infinite.
  const auto seen = [&](int argument, const Field& error) {
    const bool is_infinite = std::ranges::any_of(error.at, [](double v) { return !(v < kInfinity); });
    if (argument != read.other || !is_infinite) return error;
    return map(
        e, [](double s, double v) { return s != 0 ? v : 0.0; }, read.seen, error);
  };
  Field any, fresh_worst, of_left, of_right;  // the last two: sums of squares
  const auto bring = [&](int argument, const Known& me, const Known& other, const std::map<Symbol, Field>& folded,
                         Field& squares) {
    if (me.exact) return;
    const Off& off = off_[static_cast<std::size_t>(argument)];
    if (!off.any.none()) any = plus(e, any, dot(seen(argument, spread(e, me.value.axes, off.any)), other.size));
    if (!off.fresh.none()) {
      const Field mine = seen(argument, spread(e, me.value.axes, off.fresh));
      fresh_worst = plus(e, fresh_worst, dot(mine, other.size));
      squares = dot(map(
                        e, [k = off.k](double f) { return f / k * (f / k); }, mine),
                    other.squares);
    }
    for (const auto& [symbol, c] : me.shared) {
      const auto at = folded.find(symbol);
      any = plus(e, any,
                 at != folded.end() ? map(
                                          e, [](double x, double y) { return by(x, y); }, at->second, of(symbol))
                                    : dot(spread(e, me.value.axes,
                                                 map(
                                                     e, [](double x, double y) { return by(std::fabs(x), y); }, c, of(symbol))),
                                          other.size));
    }
  };
  bring(left, a, b, terms.left, of_left);
  bring(right, b, a, terms.right, of_right);
  if (!a.exact && !b.exact)
    any = plus(e, any, dot(seen(left, spread(e, a.value.axes, total(left))), seen(right, spread(e, b.value.axes, total(right)))));
  // Factors with different axes err independently of each other: what both had of an array would be repeated in one of them.  In
  // a step of a scan two factors may have the same axes, and the same error: then their deviations add up.
  if (!fresh_worst.none())
    any = plus(e, any,
               map(
                   e,
                   [walk = deviations_counted(), alike = a.value.axes == b.value.axes](double all, double l, double r) {
                     return std::min(all, walk * (alike ? std::sqrt(l) + std::sqrt(r) : std::sqrt(l + r)));
                   },
                   fresh_worst, of_left, of_right));

  // 0 times an error that may be infinite.
  if (!any.none())
    any = map(
        e, [](double error) { return std::isnan(error) ? kInfinity : error; }, any);

  const Numerics& numerics = declared_.numerics;
  const std::int64_t count = e.size(n.over);
  const Field terms_read = read.weights < 0 ? Field::ones() : read.seen;
  Field narrowed;  // sum |a| + |b|, infinite where a factor overflows
  if (numerics.factors.precision) {
    const double most = numerics.factors.threshold();
    const auto within = [most](double v) { return std::fabs(v) < most ? std::fabs(v) : kInfinity; };
    narrowed = sum_of(
        e, n.over, [within](double s, double x, double y) { return s != 0 ? within(x) + within(y) : 0.0; }, terms_read, a.value,
        b.value);
  }
  if (numerics.flushes_storage) {
    const auto size = [](double v) { return std::isfinite(v) ? std::fabs(v) : 0.0; };
    const Field lost = sum_of(
        e, n.over, [size](double s, double x, double y) { return s != 0 ? 0x1p-126 * (size(x) + size(y) + 1) : 0.0; }, terms_read,
        a.value, b.value);
    any = map(
        e, [](double error, double of_terms) { return error + of_terms + 0x1p-126; }, any, lost);
  }
  const auto own = [&](Errors errors) {
    if (!numerics.factors.precision)
      return map(
          e,
          [error = ProductError(numerics, errors, count)](double c, double size, double root, double brought) {
            return std::isfinite(c) ? error(std::fabs(c) + 2 * brought, size + brought, root) : 0.0;
          },
          values_[i].value, terms.size, terms.root, any);
    return map(
        e,
        [&](double c, double size, double root, double brought, double factors) {
          if (!std::isfinite(c)) return std::isinf(factors) ? kInfinity : 0.0;  // pieces of an infinite factor may make NaN
          return product_error(numerics, errors, count, std::fabs(c) + 2 * brought, size + brought, root * root, factors);
        },
        values_[i].value, terms.size, terms.root, any, narrowed);
  };
  if (coherent()) return {plus(e, any, own(Errors::coherent)), {}, kUniform};
  // Of tensor cores, which truncate to one side, and of narrowed factors the split is not known: the whole is `any`.
  if (numerics.mma_terms || numerics.factors.precision) return {plus(e, any, own(declared_.errors)), {}, kUniform};
  const double steps = std::min(roundings(static_cast<double>(count)) + 1, kLambda * kLambda);
  return {any, own(declared_.errors), std::min(deviations_counted(), std::sqrt(3 * steps))};
}

// Whether a result follows element by element from products of two exact factors, such as the queries and keys of heads with one
// channel, of which one repeats along an axis that is added up somewhere.
bool Tracked::adds_up_rounded_products(int i) const {
  std::vector<AxisSet> repeats;  // of each node up to this, the axes along which a factor repeats
  for (int k = 0; k <= i; ++k) {
    const Node& n = node(k);
    const auto is_factor = [&](int a) { return values_[a].exact && node(a).kind != Kind::constant; };
    const bool multiplies = n.kind == Kind::multiply || (n.kind == Kind::dot && extents().size(n.over) == 1);
    const bool is_product = multiplies && std::ranges::all_of(n.arguments, is_factor);
    const Group group = info(n.kind).group;
    AxisSet axes = 0;
    if (is_product || group == Group::arithmetic || group == Group::function)
      for (const int a : n.arguments) axes |= is_product ? n.axes & ~values_[a].value.axes : repeats[static_cast<std::size_t>(a)];
    repeats.push_back(values_[k].exact ? 0 : axes);
  }
  return std::ranges::any_of(values_.graph().nodes, [&](const Node& n) { return (n.over & repeats.back()) != 0; });
}

}  // namespace assay::formula
