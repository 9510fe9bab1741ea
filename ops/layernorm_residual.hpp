// SPDX-License-Identifier: Apache-2.0
// LayerNorm + residual:  y[r,c] = (x[r,c] - mean_r) / sqrt(var_r + epsilon) * gamma[c] + beta[c] + residual[r,c]
//
// var is the biased variance of the row (divided by cols; Ba, Kiros, Hinton 2016, arXiv 1607.06450, eq. 4).  A NaN or
// inf in x makes its own row NaN, and no other; in residual it affects its own element.  A constant row gives beta + residual.
// No rows give an empty y; cols = 0 is illegal: there is no mean.
#pragma once

#include "ops/core/norm_bound.hpp"

namespace assay {

struct layernorm_residual {
  struct Args {
    Tensor x;         // [rows, cols]
    Tensor residual;  // [rows, cols]
    Tensor gamma;     // [cols]
    Tensor beta;      // [cols]
    Tensor y;         // [rows, cols], written
    double epsilon = 1e-5;
  };
  struct Golden {
    Array y;         // [rows, cols]
    Array mean;      // [rows]
    Array mean_abs;  // [rows], mean of |x|
    Array variance;  // [rows]
  };

  static constexpr AxisUse axes[] = {{Axis::rows, 0}, {Axis::cols, 1}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::rows, Axis::cols});
    v.input("residual", a.residual, {Axis::rows, Axis::cols});
    v.weight("gamma", a.gamma, {Axis::cols});
    v.weight("beta", a.beta, {Axis::cols});
    v.output("y", a.y, {Axis::rows, Axis::cols});
    v.attribute("epsilon", a.epsilon, 1e-5);
  }
  template <class Visitor>
  static void bind(Golden& g, Visitor&& v) {
    v.array("y", g.y, {Axis::rows, Axis::cols});
    v.array("mean", g.mean, {Axis::rows});
    v.array("mean_abs", g.mean_abs, {Axis::rows});
    v.array("variance", g.variance, {Axis::rows});
  }

  static Legality legal(const Args& a) {
    if (!(a.epsilon >= 0) || !std::isfinite(a.epsilon)) return Legality::no("epsilon must be finite and not negative");
    return Legality::yes();
  }

  // xhat: norm_bound.hpp, worst case; u: unit roundoff of the accumulator.
  //   y      gamma: u |xhat gamma|; + beta: u |xhat gamma + beta|; + residual: u |y|; at most one of each, fewer with FMA.
  //   out    a stored intermediate: u_o |LN| + floor; the output: u_o |y| + floor.
  static double bound(const Args& a, const Golden& g, const Numerics& numerics, Errors errors, int /*output*/, std::int64_t i) {
    const std::int64_t cols = a.x.shape[1], row = i / cols, col = i % cols;
    const double gamma = a.gamma.at(col), variance = g.variance[row], d = a.x.at(i) - g.mean[row];
    const double scaled = d / std::sqrt(variance + a.epsilon) * gamma, normalised = scaled + a.beta.at(col);
    const double error = layernorm_error(numerics, errors, cols, d, g.mean_abs[row], variance, a.epsilon);
    double t = std::fabs(gamma) * error +
               unit_roundoff(numerics.accumulate) * (std::fabs(scaled) + std::fabs(normalised) + std::fabs(g.y[i]));
    t += folded_affine_error(numerics, a.x.at(i), g.mean[row], 1 / std::sqrt(variance + a.epsilon), gamma, a.beta.at(col));
    const double u_out = unit_roundoff(a.y.dtype), floor_out = rounding_floor(a.y.dtype);
    if (numerics.stores_intermediate) t += u_out * std::fabs(normalised) + floor_out;
    t += u_out * (std::fabs(g.y[i]) + t) + floor_out;
    return t * kSecondOrder;
  }

  // Reads x, residual, gamma and beta, writes y.  Per element: 1 add for the mean; subtract, multiply, add for the variance;
  // subtract, 2 multiplies, 2 adds for y.  Unfused, the LayerNorm's result is also written and read.
  static Cost cost(const Args& a) {
    const double matrix = static_cast<double>(a.x.bytes()), vector = static_cast<double>(a.gamma.bytes());
    return {.flops = 9.0 * static_cast<double>(a.x.size()),
            .bytes_read = 2 * matrix + 2 * vector,
            .bytes_written = matrix,
            .unfused_bytes = 5 * matrix + 2 * vector};
  }
};

}  // namespace assay
