// SPDX-License-Identifier: Apache-2.0
// FAULT: s is stored before the residual is added to the register it came from: x again, while y is right.
// Caught by: the check of s, which is exact, on any fill with a residual that is not zero; the check of y does not see it.
#include "cuda/residual_layernorm/broken/plain.cuh"

namespace assay::ROOM(residual_layernorm, stores_x) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ T stored(float x, float) { return from_float<T>(x); }
};
KERNEL_FROM(residual_layernorm, plain, Wrong);

}  // namespace assay::ROOM(residual_layernorm, stores_x)
