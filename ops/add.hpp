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

  static constexpr AxisUse axes[] = {{Axis::rows, 0}, {Axis::cols, 0}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("a", a.a, {Axis::rows, Axis::cols});
    v.input("b", a.b, {Axis::rows, Axis::cols});
    v.output("y", a.y, {Axis::rows, Axis::cols});
  }

  // Reads a and b, writes y; 1 operation per element.
  static Cost cost(const Args& a) {
    const double matrix = static_cast<double>(a.y.bytes());
    return {
        .flops = static_cast<double>(a.y.size()), .bytes_read = 2 * matrix, .bytes_written = matrix, .unfused_bytes = 3 * matrix};
  }
};

}  // namespace assay
