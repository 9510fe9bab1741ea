// SPDX-License-Identifier: Apache-2.0
// FAULT: one block a token along y, of which a grid has 65,535.
// Caught by: the launch, on more tokens than that.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, grid_y_overflow) {

template <class T>
struct Wrong : Plain<T> {
  static dim3 grid(const Operands<T>& p, int threads) { return dim3(ceil_div(p.out, threads), p.tokens); }
  __device__ static Place place(const Operands<T>&) {
    return {blockIdx.y, static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x};
  }
};
KERNEL_FROM(linear, plain, Wrong);

}  // namespace assay::ROOM(linear, grid_y_overflow)
