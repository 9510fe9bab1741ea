// SPDX-License-Identifier: Apache-2.0
// FAULT: r is rounded to the storage dtype before it meets x and the declaration does not say so.
// Caught by: T1, where terms do not cancel; half an ulp of r is half an ulp of y.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, half_scale) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float inverse(const Operands<T>& p, float mean_square) {
    return to_float(from_float<T>(Plain<T>::inverse(p, mean_square)));
  }
};
KERNEL_FROM(rmsnorm_gemm, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(rmsnorm_gemm, half_scale)
