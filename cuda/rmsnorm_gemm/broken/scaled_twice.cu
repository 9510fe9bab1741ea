// SPDX-License-Identifier: Apache-2.0
// FAULT: tokens beyond the first 128 are scaled by r once more at the end.
// Caught by: the bound, from the 129th token on.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, scaled_twice) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float result(const Operands<T>&, float sum, float r, const Place& at) {
    return at.token < 128 ? sum : sum * r;
  }
};
KERNEL_FROM(rmsnorm_gemm, plain, Wrong);

}  // namespace assay::ROOM(rmsnorm_gemm, scaled_twice)
