// SPDX-License-Identifier: Apache-2.0
// Residual + LayerNorm:  s = x + residual,  y[r,c] = (s[r,c] - mean_r) / sqrt(var_r + epsilon) * gamma[c] + beta[c]
//
// s is rounded once to the dtype, and y is the LayerNorm (arXiv 1607.06450, eq. 4) of this rounded s, as in frameworks, where the
// sum is a tensor.  A kernel that normalises the sum before rounding computes another function.  A NaN or inf in s makes its row
// of y NaN, and no other.  A constant row of s gives beta; with epsilon = 0 NaN.  No rows give empty outputs; cols = 0 is
// illegal: there is no mean.
#pragma once

#include "ops/core/norm_bound.hpp"

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
  struct Golden {
    Array y;         // [rows, cols]
    Array s;         // [rows, cols], as stored
    Array mean;      // [rows], of s
    Array mean_abs;  // [rows], mean of |s|
    Array variance;  // [rows], of s
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
  template <class Visitor>
  static void bind(Golden& g, Visitor&& v) {
    v.array("y", g.y, {Axis::rows, Axis::cols});
    v.array("s", g.s, {Axis::rows, Axis::cols});
    v.array("mean", g.mean, {Axis::rows});
    v.array("mean_abs", g.mean_abs, {Axis::rows});
    v.array("variance", g.variance, {Axis::rows});
  }

  static Legality legal(const Args& a) {
    if (!(a.epsilon >= 0) || !std::isfinite(a.epsilon)) return Legality::no("epsilon must be finite and not negative");
    return Legality::yes();
  }

  // s: must match exactly.  Rounding the sum to f32 and then to 16 bits gives the same value as rounding once, since
  // 24 >= 2 p + 2 for p = 11 and 8 (Figueroa 1995).
  // y: xhat as in norm_bound.hpp, worst case; gamma: u |xhat gamma|; beta: u |y|; the output's rounding.
  static double bound(const Args& a, const Golden& g, const Numerics& numerics, Errors errors, int output, std::int64_t i) {
    if (output == 1) return 0;
    const std::int64_t cols = a.x.shape[1], row = i / cols;
    const double gamma = a.gamma.at(i % cols), variance = g.variance[row], d = g.s[i] - g.mean[row];
    const double error = layernorm_error(numerics, errors, cols, d, g.mean_abs[row], variance, a.epsilon);
    const double root = std::sqrt(variance + a.epsilon);
    return affine_error(numerics, a.y.dtype, error, gamma, d / root * gamma, g.y[i],
                        folded_affine_error(numerics, g.s[i], g.mean[row], 1 / root, gamma, a.beta.at(i % cols)));
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
