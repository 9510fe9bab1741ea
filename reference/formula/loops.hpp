// SPDX-License-Identifier: Apache-2.0
// Loops over the elements of several arrays that broadcast by their axes: row by row, and each row in runs short enough for a
// core's nearest cache.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

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

// The maximum of IEEE 754-2019: +0 is above -0, and NaN is returned.
inline double larger(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

// How the elements of a row become one.
enum class Fold { total, largest };

namespace detail {

inline constexpr std::int64_t kRun = 256;  // the most elements of a run, which are neighbours in a row; a multiple of 8

// Steps of one array through a loop over the elements of a larger one.
struct Steps {
  std::array<std::int64_t, kMostAxes> stride{};  // by depth, outermost first; 0 along axes that it lacks
};

struct Loop {
  int depth = 0;
  std::array<std::int64_t, kMostAxes> extent{};  // by depth
  std::array<AxisSet, kMostAxes> axes{};
  // Axes of one position are left out.  Neighbours that each of `arrays` has or lacks together are one, unless they are folded.
  Loop(AxisSet all, AxisSet folded, const Extents& e, std::span<const AxisSet> arrays) {
    for (; all; all &= all - 1) {
      const AxisSet axis = all & -all;
      const std::int64_t positions = e[std::countr_zero(all)];
      if (positions == 1) continue;
      if (depth > 0 && !(axis & folded) && together(axes[last()] | axis, arrays)) {
        axes[last()] |= axis;
        extent[last()] *= positions;
        continue;
      }
      ++depth;
      axes[last()] = axis;
      extent[last()] = positions;
    }
  }
  std::size_t last() const { return static_cast<std::size_t>(depth - 1); }
  std::int64_t inner() const { return depth ? extent[last()] : 1; }
  std::int64_t rows() const {
    std::int64_t n = 1;
    for (int d = 0; d + 1 < depth; ++d) n *= extent[static_cast<std::size_t>(d)];
    return n;
  }
  Steps steps(AxisSet of) const {
    Steps s;
    std::int64_t stride = 1;
    for (int d = depth - 1; d >= 0; --d) {
      const auto k = static_cast<std::size_t>(d);
      if (!(of & axes[k])) continue;
      s.stride[k] = stride;
      stride *= extent[k];
    }
    return s;
  }

 private:
  static bool together(AxisSet some, std::span<const AxisSet> arrays) {
    return std::all_of(arrays.begin(), arrays.end(), [&](AxisSet of) { return (of & some) == some || (of & some) == 0; });
  }
};

inline constexpr std::size_t kMostArrays = 16, kMostFolds = 4;  // in one loop
using Offsets = std::array<std::int64_t, kMostArrays>;

// Calls row(offset of each array) for each row along the innermost axis.
template <class Row>
void each_row(const Loop& loop, std::span<const Steps> steps, Row&& row) {
  const std::int64_t rows = loop.inner() ? loop.rows() : 0;
  std::array<std::int64_t, kMostAxes> index{};
  Offsets offset{};
  for (std::int64_t r = 0; r < rows; ++r) {
    row(offset);
    for (int d = loop.depth - 2; d >= 0; --d) {
      const auto k = static_cast<std::size_t>(d);
      ++index[k];
      for (std::size_t n = 0; n < steps.size(); ++n) offset[n] += steps[n].stride[k];
      if (index[k] < loop.extent[k]) break;
      for (std::size_t n = 0; n < steps.size(); ++n) offset[n] -= steps[n].stride[k] * loop.extent[k];
      index[k] = 0;
    }
  }
}

// Computes one run of elements, or several, from those of several arrays.  A function of any type, so that the loops around it
// are compiled once and not for each formula's step.  The object must outlive it.
struct RunFunction {
  void (*call)(const void* object, std::int64_t count, double* const* to, const double* const* from);
  const void* object;
};

template <class F, class... From>
void write_run(const F& f, std::int64_t count, double* to, const From*... from) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) to[i] = f(from[i]...);
}
// Writes each of the M numbers that f returns into a run of its own.  Note: in a loop of its own too, or it is not made vector
// code.
template <std::size_t M, class F, std::size_t... K>
void make_runs(const void* object, std::int64_t count, double* const* to, const double* const* from) {
  const F own = *static_cast<const F*>(object);  // Note: a copy, since what lies in memory might change with what is written
  [&]<std::size_t... Number>(std::index_sequence<Number...>) {
    (write_run([own](auto... v) { return own(v...)[Number]; }, count, to[Number], from[K]...), ...);
  }
  (std::make_index_sequence<M>{});
}
template <std::size_t M, class F, std::size_t... K>
RunFunction run_of(const F& f, std::index_sequence<K...>) {
  return {make_runs<M, F, K...>, &f};
}

// A row that becomes one element.  Sums are eight side by side, so that the order does not depend on where the row lies in
// memory.
struct RowFold {
  std::array<double, 8> sums{};
  double most = -kInfinity;
  void add(Fold by, const double* x, std::int64_t count);  // all runs but the last are of a multiple of 8
  double with(Fold by, double before) const;
};
// Rows that become one row.
void fold_into(Fold by, double* to, const double* x, std::int64_t count);

}  // namespace detail
}  // namespace assay::formula
