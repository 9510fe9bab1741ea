// SPDX-License-Identifier: Apache-2.0
// LayerNorm + residual:  y[r,c] = (x[r,c] - mean_r) / sqrt(var_r + epsilon) * gamma[c] + beta[c] + residual[r,c]
//
// var is the biased variance of the row (divided by cols; Ba, Kiros, Hinton 2016, arXiv 1607.06450, eq. 4).  A NaN or
// inf in x spoils its own row and no other; in residual, its own element.  A constant row gives beta + residual.  No
// rows give an empty y; no columns are illegal, for the mean of nothing is not defined.
#pragma once

#include <algorithm>
#include <cmath>

#include "ops/core/contract.hpp"

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

  // Worst-case forward error of the two-pass algorithm (mean, then the mean of squared deviations), so it holds for
  // independent and for coherent rounding errors alike.  u: unit roundoff of the accumulator, n: the roundings of the
  // longest chain of additions, q: of the division by cols, d = x - mean, r = 1/sqrt(var + epsilon), xhat = d r.
  //
  //   mean   n dependent additions and the division:                 |dmean| <= (n+q) u mean|x|
  //   var    the mean square of (d - dmean)(1+u) is (var + dmean^2) within a relative (n+q+3) u: 2 for the rounded
  //          difference squared, 1 for the square, n for the sum, q for the division; no cross term, since sum d = 0.
  //          Squares that underflow cost at most half the least subnormal each.
  //   r      epsilon rounded and added: 2 u; square root and division: 2 u more.  The variance errs upwards by
  //          dmean^2 and both ways by (n+q+3) u var, so r stays in [r/sqrt(1+up), r/sqrt(1-down)] with no singular case.
  //   xhat   |error| <= r (dmean (1+rho) + |d| (rho + 2u)): 1 u for the difference, 1 u for the product d r.
  //   y      gamma: u |xhat gamma|; + beta: u |xhat gamma + beta|; + residual: u |y|; at most one of each, fewer with FMA.
  //   out    a stored intermediate: u_o |LN| + floor; the output: u_o |y| + floor.
  // Second-order products of these terms are paid for by the factor 1 + 2^-10 (n u <= 2^-8 for n <= 65537).
  static double bound(const Args& a, const Golden& g, const Numerics& numerics, Errors /*worst case*/, int /*output*/,
                      std::int64_t i) {
    const std::int64_t cols = a.x.shape[1], row = i / cols, col = i % cols;
    const double u = unit_roundoff(numerics.accumulate);
    const auto n = static_cast<double>(numerics.chain.roundings(cols) + division_roundings(cols));
    const double mean = g.mean[row], var = g.variance[row], total = var + a.epsilon;
    const double gamma = a.gamma.at(col), beta = a.beta.at(col);

    const double dmean = n * u * g.mean_abs[row] + rounding_floor(numerics.accumulate);
    const double both = ((n + 3) * u * (var + dmean * dmean) + 2 * u * total + 2 * rounding_floor(numerics.accumulate));
    const double up = (dmean * dmean + both) / total, down = std::min(both / total, 0.5);
    const double rho = std::max(1 - 1 / std::sqrt(1 + up), 1 / std::sqrt(1 - down) - 1) + 2 * u;

    const double d = a.x.at(i) - mean, r = 1 / std::sqrt(total), scaled = d * r * gamma, normalised = scaled + beta;
    const double xhat_error = r * (dmean * (1 + rho) + std::fabs(d) * (rho + 2 * u));
    double t = std::fabs(gamma) * xhat_error + u * (std::fabs(scaled) + std::fabs(normalised) + std::fabs(g.y[i]));
    const double u_out = unit_roundoff(a.y.dtype), floor_out = rounding_floor(a.y.dtype);
    if (numerics.stores_intermediate) t += u_out * std::fabs(normalised) + floor_out;
    t += u_out * (std::fabs(g.y[i]) + t) + floor_out;
    return t * (1 + 0x1p-10);
  }

  // x and residual read, y written, gamma and beta read: each byte once.  Per element: 1 add for the mean; subtract,
  // multiply, add for the variance; subtract, 2 multiplies, 2 adds for y.  Unfused, the LayerNorm's result is written
  // and read once more.
  static Cost cost(const Args& a) {
    const double matrix = static_cast<double>(a.x.bytes()), vector = static_cast<double>(a.gamma.bytes());
    return {.flops = 9.0 * static_cast<double>(a.x.size()),
            .bytes_read = 2 * matrix + 2 * vector,
            .bytes_written = matrix,
            .unfused_bytes = 5 * matrix + 2 * vector};
  }
};

}  // namespace assay
