// SPDX-License-Identifier: Apache-2.0
// Scaled columns:  y[r,c] = x[r,c] * scale[c]
//
// NaN and inf affect their own elements, one in scale its column.  No rows or no columns give an empty y.
#pragma once

#include "ops/core/contract.hpp"

namespace assay {

struct scale_cols {
  struct Args {
    Tensor x;      // [rows, cols]
    Tensor scale;  // [cols]
    Tensor y;      // [rows, cols], written
  };

  static constexpr AxisUse axes[] = {{Axis::rows, 0}, {Axis::cols, 0}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::rows, Axis::cols});
    v.weight("scale", a.scale, {Axis::cols});
    v.output("y", a.y, {Axis::rows, Axis::cols});
  }
};

}  // namespace assay
