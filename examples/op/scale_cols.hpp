// SPDX-License-Identifier: Apache-2.0
// Scaled columns:  y[r,c] = x[r,c] * scale[c]
//
// NaN and inf affect their own elements, one in scale its column.  No rows or no columns give an empty y.
#pragma once

#include <cmath>

#include "ops/core/contract.hpp"

namespace assay {

struct scale_cols {
  struct Args {
    Tensor x;      // [rows, cols]
    Tensor scale;  // [cols]
    Tensor y;      // [rows, cols], written
  };
  struct Golden {
    Array y;  // [rows, cols]
  };

  static constexpr AxisUse axes[] = {{Axis::rows, 0}, {Axis::cols, 0}};
  static constexpr std::string_view relations[] = {"rows_permuted", "first_rows", "cols_permuted", "first_cols"};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::rows, Axis::cols});
    v.weight("scale", a.scale, {Axis::cols});
    v.output("y", a.y, {Axis::rows, Axis::cols});
  }
  template <class Visitor>
  static void bind(Golden& g, Visitor&& v) {
    v.array("y", g.y, {Axis::rows, Axis::cols});
  }

  static Legality legal(const Args&) { return Legality::yes(); }

  // The right answer, in f64; `rows` are those to compute.
  static void golden(const Args& a, Golden& g, const Rows& rows) {
    const std::int64_t cols = a.y.shape[1];
    for (std::int64_t k = 0; k < rows.count(); ++k)
      for (std::int64_t i = rows[k] * cols; i < (rows[k] + 1) * cols; ++i)
        g.y[static_cast<std::size_t>(i)] = a.x.at(i) * a.scale.at(i % cols);
  }

  // One product in the accumulator, u |y| + floor, then one rounding to the output; 1 + 2^-10 covers their product.
  static double bound(const Args& a, const Golden& g, const Numerics& numerics, Errors, int /*output*/, std::int64_t i) {
    const double y = std::fabs(g.y[static_cast<std::size_t>(i)]);
    return ((unit_roundoff(numerics.accumulate) + unit_roundoff(a.y.dtype)) * y + rounding_floor(numerics.accumulate) +
            rounding_floor(a.y.dtype)) *
           (1 + 0x1p-10);
  }

  // Reads x and scale, writes y; nothing is fused.
  static Cost cost(const Args& a) {
    const double matrix = static_cast<double>(a.y.bytes()), all = 2 * matrix + static_cast<double>(a.scale.bytes());
    return {.flops = static_cast<double>(a.y.size()), .bytes_read = all - matrix, .bytes_written = matrix, .unfused_bytes = all};
  }
};

}  // namespace assay
