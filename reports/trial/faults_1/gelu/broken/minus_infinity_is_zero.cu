// SPDX-License-Identifier: Apache-2.0
// FAULT: below -14, where both forms underflow, the result is taken for -0 without computing it, also for -inf, whose GELU is
// NaN by the formulas.
// Kind: ranges
// Shows: x = -inf.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, minus_infinity_is_zero) {

template <class T>
struct Cut : Plain<T> {
  __device__ static float gelu(float z, bool erf_form) { return z < -14.0f ? -0.0f : Plain<T>::gelu(z, erf_form); }
};

KERNEL_FROM(gelu, plain, Cut);

}  // namespace assay::ROOM(gelu, minus_infinity_is_zero)
