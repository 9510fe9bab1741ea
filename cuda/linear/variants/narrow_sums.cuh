// SPDX-License-Identifier: Apache-2.0
// The plain kernel with its products and sums rounded to the dtype Sum.
#pragma once

#include "cuda/linear/broken/plain.cuh"

namespace assay::ASSAY_FLAVOUR::linear_room {

template <class Sum, class T>
struct Narrow : Plain<T> {
  __device__ static float rounded(float v) { return to_float(from_float<Sum>(v)); }
  __device__ static float added(float sum, float x, float weight) { return rounded(sum + rounded(x * weight)); }
};

}  // namespace assay::ASSAY_FLAVOUR::linear_room
