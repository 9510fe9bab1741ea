// SPDX-License-Identifier: Apache-2.0
// exp by the base-2 exponential of the hardware.
#pragma once

#include "cuda/core/device.cuh"

namespace assay::ASSAY_FLAVOUR {

inline constexpr float kLog2E = 1.4426950408889634f;

// exp(d) in two instructions, where expf takes eight.  Its rounded argument adds a relative 2u|d|, and subnormal results are
// zero.
__device__ inline float exp_approx(float d) { return exp2_approx(d * kLog2E); }

}  // namespace assay::ASSAY_FLAVOUR
