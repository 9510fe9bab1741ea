// SPDX-License-Identifier: Apache-2.0
// FAULT: the tanh form whatever the form. They differ by 5e-4 at most.
// Caught by: the bound with form=erf, on chosen and unit.
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, tanh_for_erf) {

template <class T>
struct Wrong : Plain<T> {
  __device__ float unit(float sum, float bias) const { return gelu_tanh(sum + bias); }
};
KERNEL_FROM(ffn_gelu, plain, Wrong);

}  // namespace assay::ROOM(ffn_gelu, tanh_for_erf)
