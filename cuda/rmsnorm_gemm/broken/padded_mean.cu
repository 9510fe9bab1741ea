// SPDX-License-Identifier: Apache-2.0
// FAULT: the mean is taken over hidden rounded up to a multiple of 8.
// Caught by: the bound, where hidden is no multiple of 8.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, padded_mean) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float divisor(const Operands<T>& p) { return static_cast<float>(ceil_div(p.hidden, 8) * 8); }
};
KERNEL_FROM(rmsnorm_gemm, plain, Wrong);

}  // namespace assay::ROOM(rmsnorm_gemm, padded_mean)
