// SPDX-License-Identifier: Apache-2.0
// FAULT: what is not above -14 is minus zero, and so is NaN.
// Kind: ranges
// Shows: a NaN in x.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, nan_falls_below_minus_14) {

template <class T>
struct Steps : Plain<T> {
  __device__ static float gelu(float z, bool erf_form) {
    if (!(z > -14.0f)) return -0.0f;
    return erf_form ? gelu_erf(z) : gelu_tanh(z);
  }
};
KERNEL_FROM(gelu, plain, Steps);

}  // namespace assay::ROOM(gelu, nan_falls_below_minus_14)
