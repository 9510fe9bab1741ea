// SPDX-License-Identifier: Apache-2.0
// FAULT: zero from x = -4 downwards, where GELU is still -1e-4.
// Caught by: the bound in f32 and bf16, on fill bends.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, tail_cut) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float gelu(float z, bool erf_form) { return z < -4.0f ? 0.0f : Plain<T>::gelu(z, erf_form); }
};
KERNEL_FROM(gelu, plain, Wrong);

}  // namespace assay::ROOM(gelu, tail_cut)
