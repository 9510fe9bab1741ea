// SPDX-License-Identifier: Apache-2.0
// FAULT: epsilon is a constant of the kernel, 1e-5, whatever is asked for.
// Caught by: T1, with another epsilon: 1e-3 on any row; T0 with 0.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, epsilon_fixed) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float inverse(const Operands<T>&, float mean_square) { return 1.0f / sqrtf(mean_square + 1e-5f); }
};
KERNEL_FROM(rmsnorm_gemm, plain, Wrong);

}  // namespace assay::ROOM(rmsnorm_gemm, epsilon_fixed)
