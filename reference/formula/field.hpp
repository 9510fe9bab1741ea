// SPDX-License-Identifier: Apache-2.0
// Arrays of f64 on a graph's axes, and what is computed of them: element by element, sums, maxima and products.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "reference/formula/loops.hpp"
#include "reference/formula/numbers.hpp"

namespace assay::formula {

// An array whose elements do not differ along the axes that it lacks; without axes, one number.
struct Field {
  AxisSet axes = 0;
  Numbers at{0.0};  // row-major, in the order of the graph's axes

  static Field number(double v) { return {0, {v}}; }
  static Field ones() { return number(1); }
  static Field like(AxisSet axes, const Extents& e, double v) {
    return {axes, Numbers::all(static_cast<std::size_t>(e.size(axes)), v)};
  }
  static Field unwritten(AxisSet axes, const Extents& e) {
    return {axes, Numbers::unwritten(static_cast<std::size_t>(e.size(axes)))};
  }
  // Whether it is the number 0, as a new one is: what adds nothing.
  bool none() const { return axes == 0 && at[0] == 0; }
};

namespace detail {
Field map_runs(const Extents& e, AxisSet more, std::span<const Field* const> fields, RunFunction run);
void fold_runs(const Extents& e, AxisSet over, std::span<const Fold> by, std::span<const Field* const> fields, RunFunction run,
               Field* out);
}  // namespace detail

// f of the elements of fields that broadcast by their axes; the result has the axes of all of them, and `more`.
template <class F, class... Fields>
Field map(const Extents& e, AxisSet more, const F& f, const Fields&... fields) {
  static_assert(sizeof...(Fields) <= detail::kMostArrays);
  const std::array<const Field*, sizeof...(Fields)> of{&fields...};
  const auto number = [own = f](auto... v) { return std::array<double, 1>{own(v...)}; };
  return detail::map_runs(e, more, of, detail::run_of<1>(number, std::index_sequence_for<Fields...>{}));
}
template <class F, class... Fields>
Field map(const Extents& e, const F& f, const Fields&... fields) {
  return map(e, AxisSet{0}, f, fields...);
}

// f of the elements of fields, folded along the axes `over`, which the results lack.  f returns an array, one number for each
// fold.  Along an axis of `over` that no field has, a total is multiplied by the axis's extent.
template <std::size_t M, class F, class... Fields>
std::array<Field, M> fold_each(const Extents& e, AxisSet over, const std::array<Fold, M>& by, const F& f,
                               const Fields&... fields) {
  static_assert(sizeof...(Fields) < detail::kMostArrays && M <= detail::kMostFolds);
  const std::array<const Field*, sizeof...(Fields)> of{&fields...};
  std::array<Field, M> out;
  detail::fold_runs(e, over, by, of, detail::run_of<M>(f, std::index_sequence_for<Fields...>{}), out.data());
  return out;
}
// The same for one sum, or one maximum: f returns a number.
template <class F, class... Fields>
Field fold_of(const Extents& e, AxisSet over, Fold by, const F& f, const Fields&... fields) {
  return fold_each<1>(
      e, over, {by}, [f](auto... v) { return std::array<double, 1>{f(v...)}; }, fields...)[0];
}
template <class F, class... Fields>
Field sum_of(const Extents& e, AxisSet over, const F& f, const Fields&... fields) {
  return fold_of(e, over, Fold::total, f, fields...);
}
template <class F, class... Fields>
Field max_of(const Extents& e, AxisSet over, const F& f, const Fields&... fields) {
  return fold_of(e, over, Fold::largest, f, fields...);
}

inline Field plus(const Extents& e, const Field& a, const Field& b) {
  if (b.none()) return a;
  if (a.none()) return b;
  return map(
      e, [](double x, double y) { return x + y; }, a, b);
}

// Where along each axis each index lies, in elements of an array.
using Places = std::array<std::vector<std::int64_t>, kMostAxes>;

// The places of a row-major array with these axes, outermost first.
Places places_in(std::span<const int> axes, const Extents& e);

// The position along each of these axes of the k-th element of a row-major array that has them, outermost first.
inline std::vector<std::int64_t> index_of(std::int64_t k, std::span<const int> axes, const Extents& e) {
  std::vector<std::int64_t> index(axes.size());
  for (std::size_t d = axes.size(); d-- > 0; k /= e[axes[d]]) index[d] = k % e[axes[d]];
  return index;
}

// Calls visit(k, at) for each k-th element of a row-major array with these axes, outermost first; `at` is its place in another
// array, whose places are given.
template <class Visit>
void walk(std::span<const int> axes, const Extents& e, const Places& places, Visit&& visit) {
  std::size_t count = 1;
  std::int64_t at = 0;
  for (const int axis : axes) {
    count *= static_cast<std::size_t>(e[axis]);
    if (e[axis]) at += places[static_cast<std::size_t>(axis)][0];
  }
  std::vector<std::size_t> index(axes.size(), 0);
  for (std::size_t k = 0; k < count; ++k) {
    visit(k, static_cast<std::size_t>(at));
    for (std::size_t d = axes.size(); d-- > 0;) {
      const std::vector<std::int64_t>& along = places[static_cast<std::size_t>(axes[d])];
      at -= along[index[d]];
      index[d] = index[d] + 1 < along.size() ? index[d] + 1 : 0;
      at += along[index[d]];
      if (index[d] != 0) break;
    }
  }
}

// The field with these axes at least.
inline Field spread(const Extents& e, AxisSet axes, const Field& a) {
  if ((a.axes & axes) == axes) return a;
  return map(
      e, axes, [](double v) { return v; }, a);
}

// The elements at some positions of one axis, in their order.
Field pick(const Extents& e, const Field& a, int axis, std::span<const std::int64_t> positions);

// Folds the elements along `over`, which the result lacks: a sum, or a maximum that keeps NaN.
Field sum_over(const Extents& e, AxisSet over, const Field& a);
Field max_over(const Extents& e, AxisSet over, const Field& a);
// sum over `over` of a b.
Field dot_over(const Extents& e, AxisSet over, const Field& a, const Field& b);

}  // namespace assay::formula
