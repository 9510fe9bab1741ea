// SPDX-License-Identifier: Apache-2.0
// Error bound of a dot product of length k, accumulated in f32, with exact value c.
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
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ops/core/contract.hpp"

namespace assay {

inline constexpr double kLambda = 6;  // standard deviations: one in 5e8 random walks ends further out

// sum_abs = A, sum_sq = S^2.
inline double product_error(const Numerics& numerics, Errors errors, std::int64_t k, double c, double sum_abs, double sum_sq) {
  const double u = unit_roundoff(numerics.accumulate), terms = static_cast<double>(k);
  const double underflow = (terms + 2) * 2 * rounding_floor(numerics.accumulate);
  const double m = static_cast<double>(numerics.mma_terms);
  const double steps = numerics.mma_terms ? std::ceil(terms / m) : 0;
  const double n = numerics.mma_terms ? terms : static_cast<double>(numerics.chain.roundings(k) + 1);
  const double worst = (numerics.mma_terms ? steps * (m + 3) : n) * u * sum_abs + underflow;
  if (errors == Errors::coherent) return worst;
  const double s = std::sqrt(sum_sq);
  return std::min(worst, kLambda * std::sqrt(n) * u * (s + std::fabs(c)) + steps * 2 * u * (std::fabs(c) + 2 * s) + underflow);
}

}  // namespace assay
