// SPDX-License-Identifier: Apache-2.0
// Error bound of a normalised element xhat.  It is the worst case, so it holds for independent and for coherent rounding errors.
// u: unit roundoff of the accumulator, n: number of roundings in the longest chain of additions, q: in the division by cols,
// floor: half the least subnormal, the most that underflow costs.
//
// LayerNorm in two passes (mean, then the mean of squared deviations); d = x - mean, r = 1/sqrt(var + epsilon), xhat = d r:
//   mean   n dependent additions and the division:                 |dmean| <= (n+q) u mean|x| + floor
//   var    the mean of ((d - dmean)(1+u))^2 is var + dmean^2 (no cross term, since sum d = 0) within a relative (n+q+3) u:
//          2 for the rounded difference, which is squared, 1 for the square, n for the sum, q for the division.  So it is
//          too large by at most dmean^2 + (n+q+3) u (var + dmean^2), too small by at most (n+q+3) u var; underflow of the squares
//          and of the mean adds 2 floor.
//   r      epsilon rounded and added: 2 u; square root and division: 2 u more.  r stays in [r/sqrt(1+up), r/sqrt(1-down)].
//   xhat   r (dmean (1+rho) + |d| (rho + 2u)) + floor: 1 u for the difference, 1 u for the product d r.
//
// RMSNorm; m = mean(x^2), r = 1/sqrt(m + epsilon), xhat = x r:
//   m      all terms are positive: a relative (n+q+1) u, 1 for the square; underflow adds 2 floor.
//   r      as above.
//   xhat   |x| r (rho + u) + floor.
//
// kSecondOrder covers the second-order products of these terms (n u <= 2^-8 for n <= 65537).
#pragma once

#include <cmath>
#include <limits>

#include "ops/core/contract.hpp"

namespace assay {

inline constexpr double kSecondOrder = 1 + 0x1p-10;

// Number of roundings in a mean of n terms, those of the terms themselves not counted.
inline double mean_roundings(const Numerics& numerics, std::int64_t n) {
  return static_cast<double>(numerics.chain.roundings(n) + division_roundings(n));
}

// rho, the relative error of 1/sqrt(total) if total is too large by at most `up` or too small by at most `down`, and epsilon
// adds two roundings.
inline double inverse_root_error(double u, double total, double up, double down) {
  const double above = up / total + 2 * u, below = down / total + 2 * u;
  if (!(below < 1)) return std::numeric_limits<double>::infinity();
  return std::max(1 - 1 / std::sqrt(1 + above), 1 / std::sqrt(1 - below) - 1) + 2 * u;
}

inline double layernorm_error(const Numerics& numerics, std::int64_t cols, double d, double mean_abs, double variance,
                              double epsilon) {
  const double u = unit_roundoff(numerics.accumulate), floor = rounding_floor(numerics.accumulate);
  const double n = mean_roundings(numerics, cols), total = variance + epsilon;
  const double dmean = n * u * mean_abs + floor, square = dmean * dmean, share = (n + 3) * u;
  const double rho = inverse_root_error(u, total, square + share * (variance + square) + 2 * floor, share * variance + 2 * floor);
  return (dmean * (1 + rho) + std::fabs(d) * (rho + 2 * u)) / std::sqrt(total) + floor;
}

inline double rmsnorm_error(const Numerics& numerics, std::int64_t cols, double x, double square, double epsilon) {
  const double u = unit_roundoff(numerics.accumulate), floor = rounding_floor(numerics.accumulate), total = square + epsilon;
  if (std::isinf(total)) return 0;  // r = 0, and a finite x gives 0
  const double error = (mean_roundings(numerics, cols) + 1) * u * square + 2 * floor;
  return std::fabs(x) * (inverse_root_error(u, total, error, error) + u) / std::sqrt(total) + floor;
}

// Error of y = xhat gamma + beta, computed in one FMA or two roundings, xhat within `error`; then rounded to the dtype.
inline double affine_error(DType chip, DType storage, double error, double gamma, double scaled, double y) {
  const double u = unit_roundoff(chip);
  const double t = std::fabs(gamma) * error + u * (std::fabs(scaled) + std::fabs(y)) + rounding_floor(chip);
  return (t + unit_roundoff(storage) * (std::fabs(y) + t) + rounding_floor(storage)) * kSecondOrder;
}

// Error of y = xhat gamma, computed in one rounding, xhat within `error`; then rounded to the dtype.
inline double scaled_error(const Numerics& numerics, DType storage, double error, double gamma, double xhat) {
  // xhat itself stored in the dtype: u_o |xhat| + floor.
  if (numerics.stores_intermediate) error += unit_roundoff(storage) * (std::fabs(xhat) + error) + rounding_floor(storage);
  const double y = std::fabs(xhat * gamma);
  const double t = std::fabs(gamma) * error + unit_roundoff(numerics.accumulate) * y + rounding_floor(numerics.accumulate);
  return (t + unit_roundoff(storage) * (y + t) + rounding_floor(storage)) * kSecondOrder;
}

}  // namespace assay
