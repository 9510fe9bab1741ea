// SPDX-License-Identifier: Apache-2.0
// RMSNorm:  y[r,c] = x[r,c] / sqrt(mean_c(x[r,c]^2) + epsilon) * gamma[c]
//
// Zhang, Sennrich 2019, arXiv 1910.07467.  A NaN in x makes its own row NaN, and no other; an inf turns its own element into NaN
// (inf/inf) and the row's others into 0.  A row of zeros gives zeros; with epsilon = 0 NaN.  The unfused pipeline stores x
// divided by the root.  No rows give an empty y; cols = 0 is illegal: there is no mean.
#pragma once

#include "ops/core/contract.hpp"

namespace assay {

struct rmsnorm {
  struct Args {
    Tensor x;      // [rows, cols]
    Tensor gamma;  // [cols]
    Tensor y;      // [rows, cols], written
    double epsilon = 1e-5;
  };

  static constexpr AxisUse axes[] = {{Axis::rows, 0}, {Axis::cols, 1}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::rows, Axis::cols});
    v.weight("gamma", a.gamma, {Axis::cols});
    v.output("y", a.y, {Axis::rows, Axis::cols});
    v.attribute("epsilon", a.epsilon, 1e-5);
  }

  static Legality legal(const Args& a) {
    if (!(a.epsilon >= 0) || !std::isfinite(a.epsilon)) return Legality::no("epsilon must be finite and not negative");
    return Legality::yes();
  }

  // Reads x and gamma, writes y.  Per element: multiply and add for the mean square, 2 multiplies for y.  Unfused, x divided by
  // the root is also written and read.
  static Cost cost(const Args& a) {
    const double matrix = static_cast<double>(a.x.bytes()), vector = static_cast<double>(a.gamma.bytes());
    return {.flops = 4.0 * static_cast<double>(a.x.size()),
            .bytes_read = matrix + vector,
            .bytes_written = matrix,
            .unfused_bytes = 4 * matrix + vector};
  }
};

}  // namespace assay
