// SPDX-License-Identifier: Apache-2.0
// Arrays of f64 on a graph's axes, and loops over them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "reference/formula/graph.hpp"

namespace assay::formula {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

// The extents of all axes in the part of a case that is being evaluated.
struct Extents {
  std::array<std::int64_t, kMostAxes> of{};
  Extents() = default;
  explicit Extents(const Graph& whole) { std::copy(whole.extents.begin(), whole.extents.end(), of.begin()); }
  std::int64_t operator[](int axis) const { return of[static_cast<std::size_t>(axis)]; }
  std::int64_t size(AxisSet axes) const {
    std::int64_t n = 1;
    for (; axes; axes &= axes - 1) n *= of[static_cast<std::size_t>(std::countr_zero(axes))];
    return n;
  }
};

// An array whose elements do not differ along the axes that it lacks; without axes, one number.
struct Field {
  AxisSet axes = 0;
  std::vector<double> at{0.0};  // row-major, in the order of the graph's axes

  static Field number(double v) { return {0, {v}}; }
  static Field like(AxisSet axes, const Extents& e, double v = 0) {
    return {axes, std::vector<double>(static_cast<std::size_t>(e.size(axes)), v)};
  }
  // Whether it is the number 0, and so takes part in nothing.
  bool none() const { return axes == 0 && at[0] == 0; }
};

namespace detail {
// Steps of one array through a loop over the elements of a larger one.
struct Steps {
  std::array<std::int64_t, kMostAxes> stride{};  // by depth, outermost first; 0 along axes that it lacks
};
struct Loop {
  int depth = 0;
  std::array<std::int64_t, kMostAxes> extent{};  // by depth
  std::array<int, kMostAxes> axis{};
  Loop(AxisSet axes, const Extents& e) {
    for (; axes; axes &= axes - 1) {
      axis[static_cast<std::size_t>(depth)] = std::countr_zero(axes);
      extent[static_cast<std::size_t>(depth)] = e[std::countr_zero(axes)];
      ++depth;
    }
  }
  Steps steps(AxisSet axes) const {
    Steps s;
    std::int64_t stride = 1;
    for (int d = depth - 1; d >= 0; --d) {
      const auto k = static_cast<std::size_t>(d);
      if (!(axes >> axis[k] & 1)) continue;
      s.stride[k] = stride;
      stride *= extent[k];
    }
    return s;
  }
};

// Calls row(offset of each array..., count, inner step of each array...) for each row along the innermost axis.
template <std::size_t N, class Row>
void each_row(const Loop& loop, const std::array<Steps, N>& steps, Row&& row) {
  const int inner = loop.depth - 1;
  std::int64_t rows = 1;
  for (int d = 0; d < inner; ++d) rows *= loop.extent[static_cast<std::size_t>(d)];
  std::array<std::int64_t, kMostAxes> index{};
  std::array<std::int64_t, N> offset{};
  for (std::int64_t r = 0; r < rows; ++r) {
    row(offset);
    for (int d = inner - 1; d >= 0; --d) {
      const auto k = static_cast<std::size_t>(d);
      ++index[k];
      for (std::size_t n = 0; n < N; ++n) offset[n] += steps[n].stride[k];
      if (index[k] < loop.extent[k]) break;
      for (std::size_t n = 0; n < N; ++n) offset[n] -= steps[n].stride[k] * loop.extent[k];
      index[k] = 0;
    }
  }
}
}  // namespace detail

// f of the elements of fields that broadcast by their axes; the result has the axes of all of them, and `more`.
template <class F, class... Fields>
Field map(const Extents& e, AxisSet more, F&& f, const Fields&... fields) {
  const AxisSet axes = (more | ... | fields.axes);
  Field out = Field::like(axes, e);
  if (out.at.empty()) return out;
  const auto count = static_cast<std::int64_t>(out.at.size());
  double* const to = out.at.data();
  if (((fields.axes == axes) && ...)) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = f(fields.at[static_cast<std::size_t>(i)]...);
    return out;
  }
  if (axes == 0) {
    to[0] = f(fields.at[0]...);
    return out;
  }
  const detail::Loop loop(axes, e);
  const std::array<detail::Steps, 1 + sizeof...(Fields)> steps{loop.steps(axes), loop.steps(fields.axes)...};
  const auto last = static_cast<std::size_t>(loop.depth - 1);
  const std::int64_t inner = loop.extent[last];
  detail::each_row(loop, steps, [&](const auto& offset) {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      const auto row = [&](const auto*... from) {
        for (std::int64_t i = 0; i < inner; ++i) to[offset[0] + i] = f(from[i * steps[K + 1].stride[last]]...);
      };
      row(fields.at.data() + offset[K + 1]...);
    }
    (std::index_sequence_for<Fields...>{});
  });
  return out;
}
template <class F, class... Fields>
Field map(const Extents& e, F&& f, const Fields&... fields) {
  return map(e, AxisSet{0}, std::forward<F>(f), fields...);
}

inline Field plus(const Extents& e, const Field& a, const Field& b) {
  return map(
      e, [](double x, double y) { return x + y; }, a, b);
}

// Where along each axis each index lies, in elements of an array.
using Places = std::array<std::vector<std::int64_t>, kMostAxes>;

// The places of a row-major array with these axes, outermost first.
Places places_in(std::span<const int> axes, const Extents& e);
// The axes of a set, in the graph's order.
std::vector<int> list_of(AxisSet axes);

// The maximum of IEEE 754-2019: +0 is above -0, and NaN is returned.
inline double larger(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

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
