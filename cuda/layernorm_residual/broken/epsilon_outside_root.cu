// SPDX-License-Identifier: Apache-2.0
// FAULT: 1 / (sqrt(var) + epsilon) instead of 1 / sqrt(var + epsilon): a share of epsilon where the variance is about 1.
// Caught by: the bound, plainly on fills of small deviation; on random fills in f32 for any cols > 1, and in f16 from about a
// hundred columns on.  Hidden on large_mean.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, epsilon_outside_root) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float inverse(const Rows<T>& m, float variance) { return 1.0f / (sqrtf(variance) + m.epsilon); }
};
KERNEL_FROM(layernorm_residual, plain, Wrong);

}  // namespace assay::ROOM(layernorm_residual, epsilon_outside_root)
