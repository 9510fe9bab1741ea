// SPDX-License-Identifier: Apache-2.0
// Rules of roundings (track.hpp): of a result, of one that is stored, and of what a power of two makes subnormal.
#include <algorithm>
#include <cmath>

#include "ops/core/stored.hpp"
#include "reference/formula/track.hpp"

namespace assay::formula {

template <class Extra>
Off Tracked::widened(int i, Off off, const Field& v, Extra&& extra) const {
  Field& grows = coherent() ? off.any : off.fresh;
  const Field& other = coherent() ? off.fresh : off.any;
  if (!coherent()) off.k = std::min(off.k, kUniform);
  grows = map(
      extents(), [&](double x, double own, double rest, double common) { return own + extra(x, own + rest + common); }, v, grows,
      other, shared(i));
  return off;
}

Off Tracked::rounded(int i, Off off) const {
  if (off.any.none() && off.fresh.none() && values_[i].shared.empty()) {  // one operation on exact values
    const DType to = declared_.numerics.accumulate;
    const double most = overflow_threshold(to);  // what overflows does so in every kernel
    // Note: `typical` counts sqrt(3) deviations, and this error is its own deviation.
    const double counted = declared_.errors == Errors::typical ? kUniform : 1;
    const auto error = [=](double x) { return std::fabs(x) < most ? counted * std::fabs(round_to(to, x) - x) : 0.0; };
    off.any = map(extents(), error, values_[i].value);
    return off;
  }
  return widened(i, std::move(off), values_[i].value,
                 [u = u_, low = floor_](double x, double t) { return u * (finite_size(x) + t) + low; });
}

Off Tracked::scaled_down(int i, Off off) const {
  const double least_normal = floor_ / u_;
  const auto is_subnormal = [least_normal](double v) { return v != 0 && std::fabs(v) < least_normal; };
  const Field& v = values_[i].value;
  if (std::ranges::none_of(v.at, is_subnormal)) return off;
  if (off.any.none() && off.fresh.none() && values_[i].shared.empty()) return rounded(i, std::move(off));
  off.any = plus(extents(), off.any,
                 map(
                     extents(), [=, low = floor_](double x) { return is_subnormal(x) ? low : 0.0; }, v));
  return off;
}

// A value that the dtype may turn into infinity has no bound.  A kernel that stores the sum of a step and something else, like a
// bias, may store that step in its place, before the addition: the larger of both counts.  Where few bits are rounded to few,
// errors are no draws: times a query of 255/256, all keys of 8 bits are rounded to the same side.  So the rounding of such a
// product counts as `any`.
Off Tracked::stored(int i, Off off, DType to) const {
  const double u = unit_roundoff(to), low = rounding_floor(to), most = overflow_threshold(to);
  const Node& sum = node(node(i).kind == Kind::step ? node(i).arguments[0] : i);
  Field size = values_[i].value;
  if (sum.kind == Kind::add)
    for (const int term : sum.arguments)
      if (node(term).kind == Kind::step)
        size = map(
            extents(), [](double x, double y) { return std::max(finite_size(x), finite_size(y)); }, size, values_[term].value);
  off = widened(i, std::move(off), size,
                [=](double x, double t) { return finite_size(x) + t < most ? u * (finite_size(x) + t) + low : kInfinity; });
  if (off.fresh.none() || !adds_up_rounded_products(i)) return off;
  return {.any = plus(extents(), off.any, off.fresh), .fresh = {}};
}

}  // namespace assay::formula
