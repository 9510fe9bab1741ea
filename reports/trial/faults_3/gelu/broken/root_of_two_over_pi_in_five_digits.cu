// SPDX-License-Identifier: Apache-2.0
// FAULT: the constant sqrt(2/pi) of the tanh form is 0.79788, and is off by 6e-6.
// Kind: precision
// Shows: form tanh, mostly in f32 where the argument is large.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, root_of_two_over_pi_in_five_digits) {

template <class T>
struct FiveDigits : Plain<T> {
  __device__ static float gelu(float z, bool erf_form) {
    if (erf_form) return gelu_erf(z);
    return times_sigmoid(z, 2.0f * 0.79788f * z * fmaf(0.044715f, z * z, 1.0f));
  }
};
KERNEL_FROM(gelu, plain, FiveDigits);

}  // namespace assay::ROOM(gelu, root_of_two_over_pi_in_five_digits)
