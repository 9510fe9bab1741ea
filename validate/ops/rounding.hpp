// SPDX-License-Identifier: Apache-2.0
// Scalar arithmetic of the second oracles of ops that are computed step by step.
#pragma once

#include "validate/problem/op.hpp"

namespace assay {

// Rounds every on-chip result by a policy.  Under one_lower it rounds to the storage dtype for f16 and bf16 (a half accumulator),
// to TF32's 11 bits for f32.
struct Rounding {
  Rounding(const Numerics& n, Roundings policy, DType storage)
      : exact(policy == Roundings::exact), numerics(exact ? Numerics{} : n), dtype(storage) {
    constexpr FloatFormat kTf32{11, 127, -126};
    chip = policy != Roundings::one_lower ? info(n.accumulate).format : dtype == f32 ? kTf32 : info(dtype).format;
  }
  double operator()(double v) const { return exact ? v : round_to(chip, v); }
  // The result of a step as it is stored.
  double stored(double v) const { return numerics.stores_intermediate ? round_to(dtype, v) : v; }
  bool exact;
  Numerics numerics;  // as declared; the default for the exact policy
  DType dtype;
  FloatFormat chip{};
};

}  // namespace assay
