// SPDX-License-Identifier: Apache-2.0
// Residual + LayerNorm:  s = x + residual,  y[r,c] = (s[r,c] - mean_r) / sqrt(var_r + epsilon) * gamma[c] + beta[c]
//
// s is rounded once to the dtype, and y is the LayerNorm (arXiv 1607.06450, eq. 4) of this rounded s, as in frameworks, where the
// sum is a tensor.  A kernel that normalises the sum before rounding computes another function.  A NaN or inf in s makes its row
// of y NaN, and no other.  A constant row of s gives beta; with epsilon = 0 NaN.  No rows give empty outputs; cols = 0 is
// illegal: there is no mean.
#pragma once

#include "ops/core/contract.hpp"

namespace assay {

struct residual_layernorm {
  struct Args {
    Tensor x;         // [rows, cols]
    Tensor residual;  // [rows, cols]
    Tensor gamma;     // [cols]
    Tensor beta;      // [cols]
    Tensor y;         // [rows, cols], written
    Tensor s;         // [rows, cols], written
    double epsilon = 1e-5;
  };

  static constexpr AxisUse axes[] = {{Axis::rows, 0}, {Axis::cols, 1}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::rows, Axis::cols});
    v.input("residual", a.residual, {Axis::rows, Axis::cols});
    v.weight("gamma", a.gamma, {Axis::cols});
    v.weight("beta", a.beta, {Axis::cols});
    v.output("y", a.y, {Axis::rows, Axis::cols});
    v.output("s", a.s, {Axis::rows, Axis::cols});
    v.attribute("epsilon", a.epsilon, 1e-5);
  }

  static Legality legal(const Args& a) {
    if (!(a.epsilon >= 0) || !std::isfinite(a.epsilon)) return Legality::no("epsilon must be finite and not negative");
    return Legality::yes();
  }

  // Reads x, residual, gamma and beta, writes s and y.  Per element: 1 add for s; 1 for the mean; subtract, multiply, add for
  // the variance; subtract, 2 multiplies, add for y.  Unfused, s is also read.
  static Cost cost(const Args& a) {
    const double matrix = static_cast<double>(a.x.bytes()), vector = static_cast<double>(a.gamma.bytes());
    return {.flops = 9.0 * static_cast<double>(a.x.size()),
            .bytes_read = 2 * matrix + 2 * vector,
            .bytes_written = 2 * matrix,
            .unfused_bytes = 5 * matrix + 2 * vector};
  }
};

}  // namespace assay
