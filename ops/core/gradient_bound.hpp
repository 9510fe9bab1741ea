// SPDX-License-Identifier: Apache-2.0
// Error bound of attention's gradients, which are sums over the visible pairs of a query (dQ) or of a key (dK, dV).  Notation:
// weights p = exp(s - L) from a given L, g = dO V^T and D = sum dO o, dS = p (g - D); x: the second factor of the sum: k for dQ,
// q for dK, dO for dV.  product_error: gemm_bound.hpp.  u: unit roundoff of the accumulator, u_p: of the storage dtype.  A
// magnitude of a single pair (|s|, |g - D|) stands for the largest among the pairs.
//
//   score   s: scale * product_error of head_dim terms.
//   exponent  s - L, M = max(|s|, |L|), in steps: scale rounded u|s|, its product u|s|, the difference u|s - L|; with one
//           constant scale log2(e): that u|s - L|, products u|s| and u|L|, scale u|s|, the FMA u|s - L|.  Either is at most 7u M.
//   exp     function_error u.
//   p       epsilon is the sum of these: |p'/p - 1| <= e^epsilon - 1 = eta; and lost = half the least subnormal, or 2^-126 if
//           exp flushes subnormals.  From epsilon = 1 on the bound is infinite.
//   g - D   g and D are sums of head_dim products: tau = 2 product_error; the difference rounds, u.
//   dS      the product rounds, u:  sum |dS' - dS||x| <= eta sum|dS x| + (1 + eta)(tau sum p|x| + 3u (sum|dS x| + tau sum p|x|))
//           + (lost |g - D| + floor) sum|x|; the third u covers second-order terms.
//   stored  a weight w (p for dV, else dS) rounded to the storage dtype before it is multiplied by x: |eta| <= u_p, uniform,
//           deviation 0.58 u_p: independent 0.58 lambda u_p sqrt(sum (w x)^2), coherent u_p sum|w x|; the error so far rounds as
//           well; subnormal weights: floor_p sum|x|.  If P is stored, dS inherits its error: the same amount again, and
//           floor_p |g - D| sum|x|.  If scale dS is rounded, floor_p is divided by a scale below 1.
//   flushed if the kernel flushes subnormal inputs, x loses at most 2^-126: 2^-126 sum|w|, |w| <= |g - D| (dS) or 1 (p); so does
//           the output.  Flushed v and dO in g are not covered.
//   sum     product_error of n terms, applied to the perturbed sum.
//   scale   rounded and multiplied: 2u.     out   one rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ops/core/gemm_bound.hpp"

namespace assay {

// The largest magnitudes among the pairs that a gradient sums over; see attention_backward::Pairs.
struct LargestOfPairs {
  double score, products_abs, products_sq, gradient, gradient_abs, gradient_sq;
};
// One element of a gradient, and its sums (attention_backward::Sums).
struct GradientSums {
  std::int64_t terms;
  double value, abs, sq, weighted, operand;
};

namespace detail {
// Error of sum w x, known within `error`, after its weights are rounded to the storage dtype `times` times; scale: the factor
// that the rounded weights include.
inline double stored_weights_error(DType storage, Errors errors, const GradientSums& s, double error, double times,
                                   double scale) {
  const double worst = s.abs, walk = 0.58 * deviations(errors) * std::sqrt(s.sq);
  const double once = errors == Errors::coherent ? worst : std::min(worst, walk);
  return times * (unit_roundoff(storage) * (once + error) + rounding_floor(storage) / std::min(scale, 1.0) * s.operand);
}

// Error of sum w x, |w| <= `weight`, if subnormal operands and outputs are flushed to zero.
inline double flushed_storage_error(const Numerics& numerics, const GradientSums& s, double weight) {
  return numerics.flushes_storage ? 0x1p-126 * (static_cast<double>(s.terms) * weight + 1) : 0;
}

// Error of the sum, whose terms are already off by `error` in total.
inline double gradient_sum_error(const Numerics& numerics, Errors errors, const GradientSums& s, double value, double error) {
  const double root = std::sqrt(s.sq) + error;
  return error + product_error(numerics, errors, s.terms, std::fabs(value) + error, s.abs + error, root * root);
}
}  // namespace detail

// epsilon of the weights; infinite from 1 on.
inline double weight_error(const Numerics& numerics, Errors errors, std::int64_t head_dim, double scale,
                           const LargestOfPairs& m) {
  const double u = unit_roundoff(numerics.accumulate), product = std::min(m.score / scale, m.products_abs);
  const double epsilon = scale * product_error(numerics, errors, head_dim, product, m.products_abs, m.products_sq) +
                         (7 * m.score + numerics.function_error) * u;
  return epsilon < 1 ? epsilon : std::numeric_limits<double>::infinity();
}

// dV = P^T dO.
inline double value_gradient_error(const Numerics& numerics, Errors errors, DType storage, double epsilon,
                                   const GradientSums& s) {
  if (std::isinf(epsilon)) return epsilon;
  const double lost = numerics.flushes_subnormals ? 0x1p-126 : rounding_floor(numerics.accumulate);
  double error = std::expm1(epsilon) * s.abs + lost * s.operand;
  if (numerics.narrow_probabilities || numerics.stores_intermediate)
    error += detail::stored_weights_error(storage, errors, s, error, 1, 1);
  error = detail::gradient_sum_error(numerics, errors, s, s.value, error) + detail::flushed_storage_error(numerics, s, 1);
  return error + rounding_error(storage, s.value, error);
}

// dQ = scale dS K and dK = scale dS^T Q.
inline double score_gradient_error(const Numerics& numerics, Errors errors, DType storage, std::int64_t head_dim, double scale,
                                   double epsilon, const LargestOfPairs& m, const GradientSums& s) {
  if (std::isinf(epsilon)) return epsilon;
  const double u = unit_roundoff(numerics.accumulate), floor = rounding_floor(numerics.accumulate), eta = std::expm1(epsilon);
  const double lost = numerics.flushes_subnormals ? 0x1p-126 : floor;
  const double tau = 2 * product_error(numerics, errors, head_dim, m.gradient, m.gradient_abs, m.gradient_sq);
  const double difference = 2 * m.gradient + tau;  // |g - D|
  double error =
      eta * s.abs + (1 + eta) * (tau * s.weighted + 3 * u * (s.abs + tau * s.weighted)) + (lost * difference + floor) * s.operand;
  if (numerics.narrow_probabilities || numerics.stores_intermediate)
    error += detail::stored_weights_error(storage, errors, s, error, numerics.stores_intermediate ? 2 : 1,
                                          numerics.scaled_gradients ? scale : 1);
  if (numerics.stores_intermediate) error += rounding_floor(storage) * difference * s.operand;
  error += detail::flushed_storage_error(numerics, s, difference);
  error = scale * detail::gradient_sum_error(numerics, errors, s, s.value / scale, error);
  if (numerics.flushes_storage) error += 0x1p-126;
  error += 2 * u * (std::fabs(s.value) + error);
  return error + rounding_error(storage, s.value, error);
}

}  // namespace assay
