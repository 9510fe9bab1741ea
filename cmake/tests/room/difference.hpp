// SPDX-License-Identifier: Apache-2.0
// Difference:  y[r,c] = a[r,c] - b[r,c]
//
// NaN and inf affect their own element only.  No rows or no columns give an empty y.
#pragma once

#include <cmath>

#include "ops/core/contract.hpp"

namespace assay {

struct difference {
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

  // One subtraction in the accumulator, u |y|, then one rounding to the output, u_o |y| + floor; 1 + 2^-10 covers their product.
  static double bound(const Args& a, const Golden& g, const Numerics& numerics, Errors, int /*output*/, std::int64_t i) {
    const double y = std::fabs(g.y[static_cast<std::size_t>(i)]);
    return ((unit_roundoff(numerics.accumulate) + unit_roundoff(a.y.dtype)) * y + rounding_floor(a.y.dtype)) * (1 + 0x1p-10);
  }

  // Reads a and b, writes y; nothing is fused.
  static Cost cost(const Args& a) {
    const double matrix = static_cast<double>(a.y.bytes());
    return {
        .flops = static_cast<double>(a.y.size()), .bytes_read = 2 * matrix, .bytes_written = matrix, .unfused_bytes = 3 * matrix};
  }
};

}  // namespace assay
