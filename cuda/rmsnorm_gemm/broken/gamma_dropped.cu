// SPDX-License-Identifier: Apache-2.0
// FAULT: gamma is not applied to the channels beyond the last multiple of 8.
// Caught by: the bound, where hidden is no multiple of 8.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, gamma_dropped) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float gamma(const Operands<T>& p, std::int64_t h) { return h < p.hidden / 8 * 8 ? p.gamma_at(h) : 1.0f; }
};
KERNEL_FROM(rmsnorm_gemm, plain, Wrong);

}  // namespace assay::ROOM(rmsnorm_gemm, gamma_dropped)
