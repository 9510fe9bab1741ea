// SPDX-License-Identifier: Apache-2.0
// Difference:  y[r,c] = a[r,c] - b[r,c]
//
// NaN and inf affect their own element only.  No rows or no columns give an empty y.
#pragma once

#include "ops/core/contract.hpp"

namespace assay {

struct difference {
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
};

}  // namespace assay
