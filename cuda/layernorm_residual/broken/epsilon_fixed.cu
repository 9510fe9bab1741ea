// SPDX-License-Identifier: Apache-2.0
// FAULT: epsilon is a constant of the kernel, 1e-5, whatever is asked for.
// Caught by: T1, with another epsilon: 1e-3 on any row, 1e-12 on rows of small deviation.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, epsilon_fixed) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float inverse(const Rows<T>&, float variance) { return 1.0f / sqrtf(variance + 1e-5f); }
};
KERNEL_FROM(layernorm_residual, plain, Wrong);

}  // namespace assay::ROOM(layernorm_residual, epsilon_fixed)
