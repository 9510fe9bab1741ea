// SPDX-License-Identifier: Apache-2.0
// Scalar activations for the second oracles; each step is rounded by the policy.
#pragma once

#include <cmath>
#include <numbers>

#include "ops/core/activation.hpp"
#include "validate/ops/gemm_oracle.hpp"

namespace assay::gemm_oracle {

// 1 + tanh(u) for u < 0 without cancellation: 2 e^2u / (1 + e^2u).
inline double one_plus_tanh(double u) { return u < 0 ? 2 * std::exp(2 * u) / (1 + std::exp(2 * u)) : 1 + std::tanh(u); }

inline double activate(const Rounding& r, bool cancelling, Activation form, double z) {
  if (form == Activation::silu) {
    const double t = r(std::exp(-std::fabs(z)));
    return r((z < 0 ? r.multiply(z, t) : z) / r.add(1, t));
  }
  const double half = z / 2;
  if (form == Activation::gelu_erf) {
    const double argument = r(z * r(std::numbers::sqrt2 / 2));
    if (cancelling && !r.exact) return r.multiply(half, r.add(1, r(std::erf(argument))));
    return r.multiply(half, r(std::erfc(-argument)));
  }
  const double cube = r.multiply(r(z * z), z), inner = r.add(z, r(r(0.044715) * cube));
  const double u = r(r(std::sqrt(2 / std::numbers::pi)) * inner);
  if (cancelling && !r.exact) return r.multiply(half, r.add(1, r(std::tanh(u))));
  return r.multiply(half, r(one_plus_tanh(u)));
}

}  // namespace assay::gemm_oracle
