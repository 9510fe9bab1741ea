// SPDX-License-Identifier: Apache-2.0
// FAULT: inputs below 2^-15 are halved without anything else.
// Kind: cheats
// Shows: small inputs in f32.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, small_inputs_halved) {

template <class T>
struct Halved : Plain<T> {
  static __device__ float gelu(float z, bool erf_form) {
    if (fabsf(z) < 0x1p-15f) return 0.5f * z;
    return erf_form ? gelu_erf(z) : gelu_tanh(z);
  }
};
KERNEL_FROM(gelu, plain, Halved);

}  // namespace assay::ROOM(gelu, small_inputs_halved)
