// SPDX-License-Identifier: Apache-2.0
// Rules of choices (track.hpp).  t: the whole error of an argument.
//
//   conditions      a < b may turn out otherwise where |a - b| <= t_a + t_b: then `where` may choose either.
//   max, min        between the largest and the smallest that the arguments allow.
#include <algorithm>
#include <array>
#include <cmath>

#include "reference/formula/track.hpp"

namespace assay::formula {

// A condition that may turn out otherwise is off by 1; a whole number, by any.
Off Tracked::decide(int i) const {
  const Node& n = node(i);
  const bool is_condition = n.kind != Kind::quotient;
  return {.any = map(
              extents(),
              [is_condition](double a, double b, double s, double t) {
                if (s + t == 0) return 0.0;
                if (!is_condition) return kInfinity;
                return std::fabs(a - b) > s + t ? 0.0 : 1.0;
              },
              values_[n.arguments[0]].value, values_[n.arguments[1]].value, total(n.arguments[0]), total(n.arguments[1])),
          .fresh = {}};
}

Off Tracked::pick_one(int i) const {
  const Node& n = node(i);
  const Field& holds = values_[n.arguments[0]].value;
  const Brought a = brought(n.arguments[1], n.axes), b = brought(n.arguments[2], n.axes);
  const auto chosen = [&](const Field& x, const Field& y) {
    return x.none() && y.none() ? Field{}
                                : map(
                                      extents(), [](double c, double p, double q) { return c != 0 ? p : q; }, holds, x, y);
  };
  Off off{chosen(*a.any, *b.any), chosen(*a.fresh, *b.fresh), std::min(a.k, b.k)};
  if (total(n.arguments[0]).none()) return off;
  off.any = map(
      extents(),
      [](double own, double doubt, double x, double y, double t, double s) {
        if (doubt == 0) return own;
        const double apart = std::isfinite(x) && std::isfinite(y) ? std::fabs(x - y) : kInfinity;
        return std::max(own, apart + t + s);
      },
      off.any, total(n.arguments[0]), values_[n.arguments[1]].value, values_[n.arguments[2]].value, total(n.arguments[1]),
      total(n.arguments[2]));
  return off;
}

Off Tracked::choose(int i) const {
  const Node& n = node(i);
  const Field& v = values_[i].value;
  const auto ends = [](double x, double t) { return std::array{x + t, x - t}; };  // between which an argument lies
  const auto apart = [](double high, double low, double x) { return std::isfinite(x) ? std::max(high - x, x - low) : 0.0; };
  const Field &a = values_[n.arguments[0]].value, &t_of_a = total(n.arguments[0]);
  Field off;
  if (n.kind == Kind::max) {
    const auto tops = fold_each<2>(extents(), n.over, {Fold::largest, Fold::largest}, ends, a, t_of_a);
    off = map(extents(), apart, tops[0], tops[1], v);
  } else {
    const auto either = [largest = n.kind == Kind::maximum](double x, double y) {
      return largest ? std::max(x, y) : std::min(x, y);
    };
    off = map(
        extents(),
        [&](double x, double t, double y, double s, double value) {
          return apart(either(x + t, y + s), either(x - t, y - s), value);
        },
        a, t_of_a, values_[n.arguments[1]].value, total(n.arguments[1]), v);
  }
  return {.any = map(
              extents(), [](double e, double either) { return std::max(e, either * kEitherZero); }, off,
              values_.zeros_of_both_signs(n, v)),
          .fresh = {}};
}

// What is taken twice brings its error twice, so it counts as `any`.
Off Tracked::take(int i) const {
  const Node& n = node(i);
  if (!total(n.arguments[1]).none()) return {.any = Field::number(kInfinity), .fresh = {}};
  const Field& t = total(n.arguments[0]);
  return {.any = n.kind == Kind::put ? values_.put(n, t) : values_.taken(n, t), .fresh = {}};
}

}  // namespace assay::formula
