// SPDX-License-Identifier: Apache-2.0
// FAULT: the erf form whichever is asked for.
// Caught by: T1, with form=tanh: the two are up to 5e-4 apart.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, erf_for_tanh) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float gelu(const Operands<T>&, float z, std::int64_t) { return gelu_erf(z); }
};
KERNEL_FROM(gelu_linear, plain, Wrong);

}  // namespace assay::ROOM(gelu_linear, erf_for_tanh)
