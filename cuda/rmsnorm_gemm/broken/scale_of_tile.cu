// SPDX-License-Identifier: Apache-2.0
// FAULT: eight tokens share the r of the first of them.
// Caught by: the bound, on rows of different size; several tokens.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, scale_of_tile) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static std::int64_t scaled_by(std::int64_t token) { return token / 8 * 8; }
};
KERNEL_FROM(rmsnorm_gemm, plain, Wrong);

}  // namespace assay::ROOM(rmsnorm_gemm, scale_of_tile)
