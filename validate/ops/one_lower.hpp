// SPDX-License-Identifier: Apache-2.0
// The next lower precision, for the oracles of ops that round once or not at all: computing those in the dtype itself is right.
#pragma once

#include "ops/core/dtype.hpp"

namespace assay {

// Of f32 TF32's 11 bits, of f16 bf16's 8, of bf16 the 4 of an 8-bit float; the exponents stay.
constexpr FloatFormat one_lower(DType t) {
  const FloatFormat f = info(t).format;
  return {t == f32 ? 11 : t == f16 ? 8 : 4, f.max_exponent, f.min_exponent};
}

}  // namespace assay
