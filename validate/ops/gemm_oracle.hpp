// SPDX-License-Identifier: Apache-2.0
// Scalar arithmetic of the second oracles of ops with matrix products.
#pragma once

#include <algorithm>

#include "ops/core/tensor.hpp"
#include "validate/problem/op.hpp"

namespace assay::gemm_oracle {

// Rounds by a policy.  Under one_lower the accumulator has 16 bits for f16 and bf16; for f32 both factors have TF32's 11 bits.
struct Rounding {
  Rounding(const Numerics& n, Roundings policy, DType storage)
      : exact(policy == Roundings::exact),
        lower(policy == Roundings::one_lower),
        kept(exact || n.factors.precision == 0 ? 53 : n.factors.precision * n.factors.pieces),
        stores(!exact && n.stores_intermediate),
        steps(!exact && n.stores_every_step),
        dtype(storage) {
    chip = info(lower && dtype != f32 ? dtype : n.accumulate).format;
  }
  double operator()(double v) const { return exact ? v : round_to(chip, v); }
  double add(double a, double b) const { return (*this)(a + b); }
  double multiply(double a, double b) const { return (*this)(a * b); }
  // The result of a step as it is stored: rounded if the kernel declares stores_intermediate, by step() if stores_every_step.
  double stored(double v) const { return stores ? round_to(dtype, v) : v; }
  double step(double v) const { return steps ? round_to(dtype, v) : v; }
  double factor(double v) const { return round_to({lower && dtype == f32 ? std::min(kept, 11) : kept, 127, -126}, v); }
  bool exact, lower;
  int kept;  // significand bits of factors
  bool stores, steps;
  DType dtype;
  FloatFormat chip{};
};

// Dot product of row `i` of a and row `j` of b, in sequence.
inline double dot(const Rounding& r, const Tensor& a, std::int64_t i, const Tensor& b, std::int64_t j) {
  const std::int64_t n = a.shape[a.rank - 1];
  double sum = 0;
  for (std::int64_t k = 0; k < n; ++k) sum = r(sum + r.factor(a.at(i * n + k)) * r.factor(b.at(j * n + k)));
  return sum;
}

}  // namespace assay::gemm_oracle
