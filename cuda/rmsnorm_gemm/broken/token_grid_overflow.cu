// SPDX-License-Identifier: Apache-2.0
// FAULT: one block a token along y, of which a grid has 65,535.
// Caught by: T4, the launch is refused; more tokens than that.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, token_grid_overflow) {

template <class T>
struct Wrong : Plain<T> {
  static dim3 grid(const Operands<T>& p, int threads) { return dim3(ceil_div(p.out, threads), p.tokens); }
  __device__ static Place place() { return {blockIdx.y, static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x}; }
};
KERNEL_FROM(rmsnorm_gemm, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(rmsnorm_gemm, token_grid_overflow)
