// SPDX-License-Identifier: Apache-2.0
// A right answer by the plainest means, so that what else a hostile kernel does is all that can be held against it.
#pragma once

#include <cmath>

#include "cuda/core/kernel.cuh"
#include "ops/layernorm_residual.hpp"

namespace assay::ASSAY_FLAVOUR {

inline void answer(const layernorm_residual::Args& a) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  for (std::int64_t r = 0; r < rows; ++r) {
    double mean = 0, variance = 0;
    for (std::int64_t c = 0; c < cols; ++c) mean += a.x.at(r * cols + c) / static_cast<double>(cols);
    for (std::int64_t c = 0; c < cols; ++c) variance += std::pow(a.x.at(r * cols + c) - mean, 2) / static_cast<double>(cols);
    for (std::int64_t c = 0; c < cols; ++c) {
      const double normalised = (a.x.at(r * cols + c) - mean) / std::sqrt(variance + a.epsilon) * a.gamma.at(c) + a.beta.at(c);
      a.y.set(r * cols + c, normalised + a.residual.at(r * cols + c));
    }
  }
}

}  // namespace assay::ASSAY_FLAVOUR
