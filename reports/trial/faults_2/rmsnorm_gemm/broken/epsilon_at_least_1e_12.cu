// SPDX-License-Identifier: Apache-2.0
// FAULT: epsilon is raised to 1e-12 where it is smaller, against a division by zero.
// Kind: ranges
// Shows: epsilon = 0 with activations of about 1e-6 or smaller.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, epsilon_at_least_1e_12) {

template <class T>
struct Steps : Plain<T> {
  __device__ static float inverse(const Operands<T>& p, float mean_square) {
    return 1.0f / sqrtf(mean_square + fmaxf(p.epsilon, 1e-12f));
  }
};
KERNEL_FROM(rmsnorm_gemm, plain, Steps);

}  // namespace assay::ROOM(rmsnorm_gemm, epsilon_at_least_1e_12)
