// SPDX-License-Identifier: Apache-2.0
// FAULT: the tanh form whichever is asked for.
// Caught by: the bound, with form=erf: the two are up to 5e-4 apart.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, tanh_for_erf) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float gelu(const Operands<T>&, float z, std::int64_t) { return gelu_tanh(z); }
};
KERNEL_FROM(gelu_linear, plain, Wrong);

}  // namespace assay::ROOM(gelu_linear, tanh_for_erf)
