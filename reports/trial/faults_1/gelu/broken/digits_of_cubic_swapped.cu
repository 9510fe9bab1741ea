// SPDX-License-Identifier: Apache-2.0
// FAULT: the cubic coefficient of the tanh form is 0.044175 for 0.044715.
// Kind: algorithm
// Shows: form tanh, x around -3 to -1.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, digits_of_cubic_swapped) {

template <class T>
struct Swapped : Plain<T> {
  __device__ static float gelu(float z, bool erf_form) {
    constexpr float kLinear = 1.5957691216057308f, kCubic = kLinear * 0.044175f;
    return erf_form ? gelu_erf(z) : times_sigmoid(z, z * fmaf(kCubic, z * z, kLinear));
  }
};

KERNEL_FROM(gelu, plain, Swapped);

}  // namespace assay::ROOM(gelu, digits_of_cubic_swapped)
