// SPDX-License-Identifier: Apache-2.0
// FAULT: gamma is taken by the channel's place in a tile of 128: every tile gets that of the first.
// Caught by: T1, with more than 128 channels.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, gamma_of_first_tile) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float gamma(const Operands<T>& p, std::int64_t h) { return p.gamma_at(h % 128); }
};
KERNEL_FROM(rmsnorm_gemm, plain, Wrong);

}  // namespace assay::ROOM(rmsnorm_gemm, gamma_of_first_tile)
