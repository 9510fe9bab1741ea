// SPDX-License-Identifier: Apache-2.0
// FAULT: epsilon is added to the root instead of the mean square.
// Caught by: the bound, on rows near zero (tiny_rows), and in f32 on any.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, epsilon_outside_root) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float inverse(const Operands<T>& p, float mean_square) { return 1.0f / (sqrtf(mean_square) + p.epsilon); }
};
KERNEL_FROM(rmsnorm_gemm, plain, Wrong);

}  // namespace assay::ROOM(rmsnorm_gemm, epsilon_outside_root)
