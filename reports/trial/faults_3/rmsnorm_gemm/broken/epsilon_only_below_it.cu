// SPDX-License-Identifier: Apache-2.0
// FAULT: the mean square is raised to epsilon where it is smaller, in place of adding epsilon to it.
// Kind: ranges
// Shows: tokens whose mean square is small, of the size of epsilon.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, epsilon_only_below_it) {

template <class T>
struct Raised : Plain<T> {
  __device__ static float inverse(const Operands<T>& p, float mean_square) {
    return 1.0f / sqrtf(mean_square > p.epsilon || mean_square != mean_square ? mean_square : p.epsilon);
  }
};
KERNEL_FROM(rmsnorm_gemm, plain, Raised);

}  // namespace assay::ROOM(rmsnorm_gemm, epsilon_only_below_it)
