// SPDX-License-Identifier: Apache-2.0
// Row softmax:  y[r,c] = exp(x[r,c] - m_r) / sum_c exp(x[r,c] - m_r),  m_r = max_c x[r,c]
//
// NaN and inf follow the formula: an element of -inf gives 0; a NaN or +inf makes its own row NaN (inf - inf), and no other; a
// row of only -inf is NaN.  No rows give an empty y; cols = 0 is illegal: there is no maximum.
#pragma once

#include "ops/core/contract.hpp"

namespace assay {

struct softmax {
  struct Args {
    Tensor x;  // [rows, cols]
    Tensor y;  // [rows, cols], written
  };

  static constexpr AxisUse axes[] = {{Axis::rows, 0}, {Axis::cols, 1}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::rows, Axis::cols});
    v.output("y", a.y, {Axis::rows, Axis::cols});
  }

  // Reads x, writes y.  Per element: maximum, difference, exp, addition, product.  Unfused, three passes: read x for the maxima;
  // read x, write e; read e, write y.
  static Cost cost(const Args& a) {
    const double matrix = static_cast<double>(a.x.bytes());
    return {.flops = 5.0 * static_cast<double>(a.x.size()),
            .bytes_read = matrix,
            .bytes_written = matrix,
            .unfused_bytes = 5 * matrix};
  }
};

}  // namespace assay
