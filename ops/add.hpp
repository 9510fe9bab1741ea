// SPDX-License-Identifier: Apache-2.0
// Elementwise addition, such as a residual:  y[r,c] = a[r,c] + b[r,c]
//
// NaN and inf affect their own element only; inf + -inf = NaN.  No rows or no columns give an empty y.
#pragma once

#include "ops/core/contract.hpp"

namespace assay {

struct add {
  struct Args {
    Tensor a;  // [rows, cols]
    Tensor b;  // [rows, cols]
    Tensor y;  // [rows, cols], written
  };
  struct Golden {
    Array y;  // [rows, cols]
  };

  static constexpr AxisUse axes[] = {{Axis::rows, 0}, {Axis::cols, 0}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("a", a.a, {Axis::rows, Axis::cols});
    v.input("b", a.b, {Axis::rows, Axis::cols});
    v.output("y", a.y, {Axis::rows, Axis::cols});
  }
  template <class Visitor>
  static void bind(Golden& g, Visitor&& v) {
    v.array("y", g.y, {Axis::rows, Axis::cols});
  }

  static Legality legal(const Args&) { return Legality::yes(); }

  // One rounding to the dtype; a wider accumulator rounds once more.  Subnormal sums are exact: they are multiples of the least
  // subnormal.
  static double bound(const Args& a, const Golden& g, const Numerics& numerics, Errors /*one element, no chain*/, int /*output*/,
                      std::int64_t i) {
    const double y = std::fabs(g.y[static_cast<std::size_t>(i)]);
    const double t = numerics.accumulate == a.y.dtype ? 0 : unit_roundoff(numerics.accumulate) * y;
    return t + unit_roundoff(a.y.dtype) * (y + t);
  }

  // Reads a and b, writes y; 1 operation per element.
  static Cost cost(const Args& a) {
    const double matrix = static_cast<double>(a.y.bytes());
    return {
        .flops = static_cast<double>(a.y.size()), .bytes_read = 2 * matrix, .bytes_written = matrix, .unfused_bytes = 3 * matrix};
  }
};

}  // namespace assay
