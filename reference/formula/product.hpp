// SPDX-License-Identifier: Apache-2.0
// The error of many dot products of one length (gemm_bound.hpp), where what does not depend on the element is computed once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ops/core/gemm_bound.hpp"

namespace assay::formula {

// For factors that are not narrowed.  Of the magnitudes A and S and the value c: the least of chain A and walk S + drift |c|, and
// what underflows.
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

}  // namespace assay::formula
