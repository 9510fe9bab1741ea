// SPDX-License-Identifier: Apache-2.0
// FAULT: the cube of x is rounded to the dtype: in f16 it overflows from 40.3 on, and is a zero below 0.003. Right in f32,
// and where GELU is saturated or linear.
// Caught by: the bound in f16 and bf16 with the tanh form, on any moderate x.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, cube_in_storage) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float gelu(float z, bool erf_form) {
    const float cube = to_float(from_float<T>(z * z * z));
    const float v = 1.5957691216057308f * (z + 0.044715f * cube);
    return erf_form ? gelu_erf(z) : times_sigmoid(z, v);
  }
};
KERNEL_FROM(gelu, plain, Wrong);

}  // namespace assay::ROOM(gelu, cube_in_storage)
