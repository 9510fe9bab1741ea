// SPDX-License-Identifier: Apache-2.0
// FAULT: the tanh form whatever form is asked for, up to 5e-4 away from the erf form.
// Caught by: the bound with form=erf, in f16 and f32; bf16 is too coarse for most x.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, tanh_for_erf) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float gelu(float z, bool) { return gelu_tanh(z); }
};
KERNEL_FROM(gelu, plain, Wrong);

}  // namespace assay::ROOM(gelu, tanh_for_erf)
