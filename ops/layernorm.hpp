// SPDX-License-Identifier: Apache-2.0
// LayerNorm:  y[r,c] = (x[r,c] - mean_r) / sqrt(var_r + epsilon) * gamma[c] + beta[c]
//
// var is the biased variance of the row (divided by cols; Ba, Kiros, Hinton 2016, arXiv 1607.06450, eq. 4).  A NaN or
// inf in x makes its own row NaN, and no other.  A constant row gives beta; with epsilon = 0 NaN.  No rows give an empty y;
// cols = 0 is illegal: there is no mean.
#pragma once

#include "ops/core/contract.hpp"

namespace assay {

struct layernorm {
  struct Args {
    Tensor x;      // [rows, cols]
    Tensor gamma;  // [cols]
    Tensor beta;   // [cols]
    Tensor y;      // [rows, cols], written
    double epsilon = 1e-5;
  };

  static constexpr AxisUse axes[] = {{Axis::rows, 0}, {Axis::cols, 1}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::rows, Axis::cols});
    v.weight("gamma", a.gamma, {Axis::cols});
    v.weight("beta", a.beta, {Axis::cols});
    v.output("y", a.y, {Axis::rows, Axis::cols});
    v.attribute("epsilon", a.epsilon, 1e-5);
  }

  static Legality legal(const Args& a) {
    if (!(a.epsilon >= 0) || !std::isfinite(a.epsilon)) return Legality::no("epsilon must be finite and not negative");
    return Legality::yes();
  }

  // Reads x, gamma and beta, writes y.  Per element: 1 add for the mean; subtract, multiply, add for the variance; subtract,
  // 2 multiplies, add for y.  One step, so unfused is the same.
  static Cost cost(const Args& a) {
    const double matrix = static_cast<double>(a.x.bytes()), vector = static_cast<double>(a.gamma.bytes());
    return {.flops = 8.0 * static_cast<double>(a.x.size()),
            .bytes_read = matrix + 2 * vector,
            .bytes_written = matrix,
            .unfused_bytes = 2 * matrix + 2 * vector};
  }
};

}  // namespace assay
