// SPDX-License-Identifier: Apache-2.0
// FAULT: for 16-bit types the tanh form has sqrt(2 / pi) to four digits, 0.7979.
// Kind: precision
// Shows: the tanh form in bf16 at arguments below -5, where the result is still a normal number.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, root_of_two_over_pi_of_4_digits) {

template <class T>
struct Steps : Plain<T> {
  __device__ static float gelu(float z, bool erf_form) {
    constexpr float kRoot = 0.7979f;
    if (erf_form) return gelu_erf(z);
    if constexpr (std::is_same_v<T, float>) return gelu_tanh(z);
    else return times_sigmoid(z, 2.0f * kRoot * z * fmaf(0.044715f, z * z, 1.0f));
  }
};
KERNEL_FROM(gelu, plain, Steps);

}  // namespace assay::ROOM(gelu, root_of_two_over_pi_of_4_digits)
