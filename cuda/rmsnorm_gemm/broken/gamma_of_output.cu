// SPDX-License-Identifier: Apache-2.0
// FAULT: gamma is applied after the product, to output o that of channel o.
// Caught by: the bound.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, gamma_of_output) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float gamma(const Operands<T>&, std::int64_t) { return 1; }
  __device__ static float result(const Operands<T>& p, float sum, float, const Place& at) {
    return sum * p.gamma_at(at.o % p.hidden);
  }
};
KERNEL_FROM(rmsnorm_gemm, plain, Wrong);

}  // namespace assay::ROOM(rmsnorm_gemm, gamma_of_output)
