// SPDX-License-Identifier: Apache-2.0
// Error bound of a dot product of length k with exact value c.
// S = sqrt(sum (ab)^2), A = sum |ab|, u: unit roundoff of the accumulator, p: a partial sum.
//
//   FMA chain    n = chain.roundings(k) + 1 roundings (the first product rounds as well), each of at most u |p|.
//     coherent     |p| <= A:                                             n u A
//     independent  the errors are a random walk of variance u^2 p^2 / 3 a step, p^2 about S^2 + c^2 at most:
//                  sqrt(n/3) u (S + |c|) is one deviation; lambda = 6:    lambda sqrt(n) u (S + |c|); the 1/sqrt(3)
//                  is left out to cover partial sums that exceed S + |c| on the way
//   Tensor core  a step aligns m products and the accumulator to the largest of them and truncates each: F >= 24
//                fractional bits lose at most u max(|p|, |ab|) a term, m + 1 terms; and truncates the result towards
//                zero, at most 2u |p| (bit for bit on an H200: simt/mma.cpp).  ceil(k/m) steps.
//     coherent     ceil(k/m) (m + 3) u A
//     independent  the result's truncation is one-sided, so it adds up:   ceil(k/m) 2u (|c| + 2S), |p| <= |c| + 2S;
//                  the terms' truncations have random signs, and count as k roundings:  lambda sqrt(k) u (S + |c|)
// Underflow: rounding loses half the least subnormal, a truncation all of it; the code allows all of it for k + 2 terms.
// The coherent form is the worst case and caps the independent one.
//
// Accumulators narrower than f32, where n u is no longer small:
//   coherent     (1 + u)^n - 1 <= n u / (1 - n u) in place of n u (Higham 2002, lemma 3.1), and never more than k u, which holds
//                for any k and any order to nearest (Jeannerod, Rump 2013, "Improved error bounds for inner products")
//   independent  a partial sum carries its own error: its variance grows by 1 + u^2/3 a step, which the 1/sqrt(3) left out
//                covers with room to spare up to n u^2 = 1 (e^(1/3) - 1 < 1.2 / 3)
//   range        partial sums are at most A (1 + that).  From the accumulator's overflow threshold on the bound is infinite.
// Narrowed factors (Factors; v = 2^-precision, s pieces): x1 + ... + xs = x (1 + d), |d| <= v^s, |x_i| <= v^(i-1) (1 + v) |x|.
// A term is off by v^s for each factor, and for each of the s - 1 largest products left out, those with i + j = s + 2; the rest
// is less than 2v of this.
//     coherent     (s + 1) v^s (1 + 2v) A        independent  lambda sqrt(s + 1) v^s (1 + 2v) S
//   The sum has `products` k terms; the |x_i y_j| of a term add up to at most (1 + 7v) |xy|.  Below the normal range a factor is
//   off by the format's floor, which the other one multiplies: floor sum(|x| + |y|).  A factor above the format's largest number
//   overflows: the bound is infinite.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ops/core/contract.hpp"

namespace assay {

// The relative error of n roundings in a row, of k in all.
inline double chain_error(DType accumulate, double n, double k) {
  const double u = unit_roundoff(accumulate);
  return u > unit_roundoff(f32) ? std::min(compounded(n * u), k * u) : n * u;
}

// Of many dot products of k terms each, with factors that are not narrowed: what does not depend on the element is computed once.
class ProductError {
 public:
  ProductError(const Numerics& numerics, Errors errors, std::int64_t k) {
    const double u = unit_roundoff(numerics.accumulate), terms = static_cast<double>(k),
                 m = static_cast<double>(numerics.mma_terms);
    const bool is_mma = numerics.mma_terms != 0;
    const double steps = is_mma ? std::ceil(terms / m) : 0;
    const double n = is_mma ? terms : static_cast<double>(numerics.chain.roundings(k) + 1);
    chain_ =
        is_mma ? chain_error(numerics.accumulate, steps * (m + 3), steps * (m + 3)) : chain_error(numerics.accumulate, n, terms);
    underflow_ = (terms + 2) * 2 * rounding_floor(numerics.accumulate);
    if (numerics.accumulate == f16) most_ = overflow_threshold(f16);
    if (errors == Errors::coherent) return;
    walk_ = deviations(errors) * std::sqrt(n) * u;
    truncation_ = steps * 2 * u;
  }
  // root = S.
  double operator()(double c, double sum_abs, double root) const {
    const double worst = chain_ * sum_abs, size = std::fabs(c);
    const double walked = walk_ * (root + size) + truncation_ * (size + 2 * root);
    const double least = walk_ > 0 ? std::min(worst, walked) : worst;
    return !(sum_abs * (1 + chain_) < most_) && most_ < kNoLimit ? kNoLimit : least + underflow_;
  }

 private:
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  double chain_ = 0, underflow_ = 0, most_ = kNoLimit;
  double walk_ = 0, truncation_ = 0;  // 0: errors are coherent
};

// The same of one product, whose factors may be narrowed.  sum_abs = A, sum_sq = S^2; factor_abs: sum |a| + |b|,
// infinite where a narrowed factor may overflow.
inline double product_error(const Numerics& numerics, Errors errors, std::int64_t k, double c, double sum_abs, double sum_sq,
                            double factor_abs = 0) {
  if (numerics.factors.precision) {
    const Factors& f = numerics.factors;
    const double v = f.unit(), each = std::pow(v, f.pieces) * (1 + 2 * v), count = f.pieces + 1, more = 1 + 7 * v;
    double narrowed = count * each * sum_abs;
    if (errors != Errors::coherent) narrowed = std::min(narrowed, deviations(errors) * std::sqrt(count * sum_sq) * each);
    narrowed += f.floor() * factor_abs;
    Numerics wide = numerics;
    wide.factors = {};
    return narrowed + product_error(wide, errors, k * f.products, std::fabs(c) + narrowed, sum_abs * more, sum_sq * more * more);
  }
  return ProductError(numerics, errors, k)(c, sum_abs, std::sqrt(sum_sq));
}

}  // namespace assay
