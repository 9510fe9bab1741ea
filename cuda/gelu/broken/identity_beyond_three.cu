// SPDX-License-Identifier: Apache-2.0
// FAULT: beyond 3 GELU is taken for the identity, 4e-3 too large at the most, and the exp is saved.
// Kind: cheat
// Caught by: the bound, with rows=259 cols=1 (f32).
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, identity_beyond_three) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float gelu(float z, bool erf_form) { return z > 3.0f ? z : Plain<T>::gelu(z, erf_form); }
};
KERNEL_FROM(gelu, plain, Wrong);

}  // namespace assay::ROOM(gelu, identity_beyond_three)
