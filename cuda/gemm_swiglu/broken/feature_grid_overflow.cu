// SPDX-License-Identifier: Apache-2.0
// FAULT: one block row a feature along y, of which a grid has 65,535.
// Caught by: T4, the launch is refused; ffn above 65,535.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, feature_grid_overflow) {

template <class T>
struct Wrong : Plain<T> {
  static dim3 grid(const Operands<T>& p) { return dim3(ceil_div(p.tokens, kPlainThreads), p.ffn); }
  __device__ static Place place() { return {static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x, blockIdx.y}; }
};
KERNEL_FROM(gemm_swiglu, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(gemm_swiglu, feature_grid_overflow)
