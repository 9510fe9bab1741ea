// SPDX-License-Identifier: Apache-2.0
// FAULT: x/2 (1 + tanh) and x/2 (1 + erf), which cancel for negative x, and no word of it in the declaration.
// Caught by: the bound in f32 near x = -4 (fill bends), where hardly a digit is left.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, cancelling_undeclared) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float gelu(float z, bool erf_form) {
    const float g = erf_form ? erff(z * 0.7071067811865476f) : tanhf(0.7978845608028654f * (z + 0.044715f * (z * z * z)));
    return 0.5f * z * (1.0f + g);
  }
};
KERNEL_FROM(gelu, plain, Wrong);

}  // namespace assay::ROOM(gelu, cancelling_undeclared)
