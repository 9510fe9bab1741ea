// SPDX-License-Identifier: Apache-2.0
// GELU:  y[r,c] = gelu(x[r,c]);  form tanh: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)));  form erf: x/2 erfc(-x/sqrt 2)
//
// Hendrycks, Gimpel 2016, arXiv 1606.08415.  gelu(inf) = inf, gelu(-inf) = NaN (inf * 0 in the formulas).  No rows or no columns
// give an empty y.
#pragma once

#include "ops/core/activation.hpp"

namespace assay {

struct gelu {
  struct Args {
    Tensor x;  // [rows, cols]
    Tensor y;  // [rows, cols], written
    Activation form = Activation::gelu_tanh;
  };

  static constexpr AxisUse axes[] = {{Axis::rows, 0}, {Axis::cols, 0}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::rows, Axis::cols});
    v.output("y", a.y, {Axis::rows, Axis::cols});
    v.choice("form", a.form, {"tanh", "erf"});
  }

  // Reads x, writes y; 10 operations per element.
  static Cost cost(const Args& a) {
    const double matrix = static_cast<double>(a.x.bytes());
    return {.flops = 10.0 * static_cast<double>(a.x.size()),
            .bytes_read = matrix,
            .bytes_written = matrix,
            .unfused_bytes = 2 * matrix};
  }
};

}  // namespace assay
