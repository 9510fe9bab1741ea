// SPDX-License-Identifier: Apache-2.0
// The next lower precision, for the oracles of ops that round at most once.  Computing these in the dtype itself is correct, so
// the fault of Roundings::one_lower must be less precise than the dtype.
#pragma once

#include "ops/core/dtype.hpp"

namespace assay {

// Significand bits: TF32's 11 for f32, bf16's 8 for f16, the 4 of an 8-bit float for bf16; the exponent range stays.
constexpr FloatFormat one_lower(DType t) {
  const FloatFormat f = info(t).format;
  return {t == f32 ? 11 : t == f16 ? 8 : 4, f.max_exponent, f.min_exponent};
}

}  // namespace assay
