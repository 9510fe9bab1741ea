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
//   r      epsilon rounded and added: 2 u; square root and division: R u and Q u more (Numerics::root_error, quotient_error; an
//          rsqrt has both).  r stays in [r/sqrt(1+up), r/sqrt(1-down)].
//   xhat   r (dmean (1+rho) + |d| (rho + 2u)) + floor: 1 u for the difference, 1 u for the product d r.
//
// Running moments (Numerics::running_moments; Welford 1962), in one chain of n = cols values:  M_k = M_{k-1} + (x_k - M_{k-1})/k,
// S_k = S_{k-1} + (x_k - M_{k-1})(x_k - M_k), var = S_n/n.  A = sum|x|, so |M_k| <= A/k; e_k is the error of M_k.
//   mean   step k rounds the difference, its quotient (2 where 1/k multiplies) and the sum: 3u|x_k - M_{k-1}|/k + u|M_k|.  The
//          step itself multiplies e_{k-1} by 1 - 1/k, so k e_k is the sum of k times these:
//          n|e_n| <= 3u (A + sum_{k<n} A/k) + u n A, so dmean <= u (n + 6 + 3 ln n) mean|x|.
//          On the way, |e_k| <= u A (1 + 3 (2 + ln k)/k) <= 6u A = e: a mean on the way may be far above mean|x|.
//   var    the terms of S are positive: (n+q+3) u, as above.  e enters both factors: e sum(|x - M_{k-1}| + |x - M_k|) + n e^2.
//          The terms add up to S = n var, (x - M_k)^2 is at most a term and (x - M_{k-1})^2 at most two, so by Cauchy and Schwarz
//          (1 + sqrt 2) e sqrt(var) + e^2.  It grows as n u mean|x|/sqrt(var), as known for it (Chan, Golub, LeVeque 1983).
//
// RMSNorm; m = mean(x^2), r = 1/sqrt(m + epsilon), xhat = x r:
//   m      all terms are positive: a relative (n+q+1) u, 1 for the square; underflow adds 2 floor.
//   r      as above.
//   xhat   |x| r (rho + u) + floor.
//
// RMSNorm of a sum x that the kernel has in the accumulator and never stores (residual_rmsnorm, sum=f32).  Its one addition
// rounds x by at most u |x|, however much the summands cancel, and does not underflow:
//   m      each square is off by a relative 2u more, and so is their mean, as all have one sign: (n+q+3) u in the worst case.  Of
//          random roundings the mean is off by 2u sqrt(sum x^4) / sum x^2, which is 2u again where one element outweighs its row:
//          so the 2 count in full in the expected case too, as the 1 of the squares does.
//   xhat   |x| r (rho + 2u) + floor.
//
// kSecondOrder covers the second-order products of these terms (n u <= 2^-8 for n <= 65537).
#pragma once

#include <cmath>
#include <limits>

#include "ops/core/contract.hpp"

namespace assay {

inline constexpr double kSecondOrder = 1 + 0x1p-10;

// Number of roundings in a mean of n terms, those of the terms themselves not counted.
inline double mean_roundings(const Numerics& numerics, Errors errors, std::int64_t n) {
  return kept(errors, static_cast<double>(numerics.chain.roundings(n) + division_roundings(n)));
}

// rho, the relative error of 1/sqrt(total) if total is too large by at most `up` or too small by at most `down`, and epsilon
// adds two roundings.
inline double inverse_root_error(const Numerics& numerics, double total, double up, double down) {
  const double u = unit_roundoff(numerics.accumulate);
  const double above = up / total + 2 * u, below = down / total + 2 * u;
  if (!(below < 1)) return std::numeric_limits<double>::infinity();
  return std::max(1 - 1 / std::sqrt(1 + above), 1 / std::sqrt(1 - below) - 1) +
         (numerics.root_error + numerics.quotient_error) * u;
}

inline double layernorm_error(const Numerics& numerics, Errors errors, std::int64_t cols, double d, double mean_abs,
                              double variance, double epsilon) {
  const double u = unit_roundoff(numerics.accumulate), floor = rounding_floor(numerics.accumulate);
  const double n = mean_roundings(numerics, errors, cols), total = variance + epsilon;
  double dmean = n * u * mean_abs + floor, square = dmean * dmean;
  const double share = (n + 3) * u;
  double up = square + share * (variance + square) + 2 * floor, down = share * variance + 2 * floor;
  if (numerics.running_moments) {
    const auto terms = static_cast<double>(cols);
    const double worst = 6 * u * terms * mean_abs + floor;
    dmean = (terms + 6 + 3 * std::log(terms)) * u * mean_abs + terms * floor;
    square = dmean * dmean;
    up = down = 2.42 * worst * std::sqrt(variance) + worst * worst + share * (variance + worst * worst) + 2 * floor;
  }
  const double rho = inverse_root_error(numerics, total, up, down);
  if (std::isinf(rho)) return rho;  // for d = 0 too
  return (dmean * (1 + rho) + std::fabs(d) * (rho + 2 * u)) / std::sqrt(total) + floor;
}

// `of_x`: the roundings of x itself, each within u |x|.
inline double rmsnorm_error(const Numerics& numerics, Errors errors, std::int64_t cols, double x, double square, double epsilon,
                            int of_x = 0) {
  const double u = unit_roundoff(numerics.accumulate), floor = rounding_floor(numerics.accumulate), total = square + epsilon;
  if (std::isinf(total)) return 0;  // r = 0, and a finite x gives 0
  const double error = (mean_roundings(numerics, errors, cols) + 1 + 2 * of_x) * u * square + 2 * floor;
  return std::fabs(x) * (inverse_root_error(numerics, total, error, error) + (1 + of_x) * u) / std::sqrt(total) + floor;
}

// What LayerNorm's affine costs more if it is folded into the norm (Numerics::folded_affine): y = x a + b, a = r gamma,
// b = beta - mean a.  a rounds once in both, which u|xhat gamma| of affine_error pays for, as u|y| does for the last sum.  Left
// are mean a and x a, each rounded, and b: u (2|mean| + |x|) |r gamma| + u|beta|; a subnormal a is off by half the least
// subnormal, which x - mean multiplies, and two products by as much.
inline double folded_affine_error(const Numerics& numerics, double x, double mean, double inverse_root, double gamma,
                                  double beta) {
  if (!numerics.folded_affine) return 0;
  return unit_roundoff(numerics.accumulate) *
             ((2 * std::fabs(mean) + std::fabs(x)) * inverse_root * std::fabs(gamma) + std::fabs(beta)) +
         rounding_floor(numerics.accumulate) * (std::fabs(x - mean) + 2);
}

// Error of y = xhat gamma + beta, computed in one FMA or two roundings, xhat within `error`, `folded`: folded_affine_error; then
// rounded to the dtype.
inline double affine_error(const Numerics& numerics, DType storage, double error, double gamma, double scaled, double y,
                           double folded) {
  const double u = unit_roundoff(numerics.accumulate);
  const double t =
      std::fabs(gamma) * error + u * (std::fabs(scaled) + std::fabs(y)) + rounding_floor(numerics.accumulate) + folded;
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
