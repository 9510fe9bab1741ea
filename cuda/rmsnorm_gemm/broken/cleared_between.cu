// SPDX-License-Identifier: Apache-2.0
// FAULT: a launch between the two clears y and waits for nothing, so the product, which waits for that launch alone, may read r
// before it is stored.
// Caught by: T4, early_write, in every case.
#include "cuda/rmsnorm_gemm/broken/dependent.cuh"

namespace assay::ROOM(rmsnorm_gemm, cleared_between) {

template <class T>
__global__ void rmsnorm_gemm_clear(Operands<T> p) {
  next_grid_may_start();
  const Place at = Plain<T>::place();
  if (at.o < p.out) st(p.y + at.token * p.y_stride + at.o, from_float<T>(0.0f));
}

template <class T>
struct Wrong : PlainDependent<T> {
  static void between(const Operands<T>& p, void* stream) {
    launch(rmsnorm_gemm_clear<T>, {.grid = Plain<T>::grid(p, kPlainThreads), .block = dim3(kPlainThreads), .dependent = true},
           stream, p);
  }
};
KERNEL_FROM(rmsnorm_gemm, dependent, Wrong, {f16, f32});

}  // namespace assay::ROOM(rmsnorm_gemm, cleared_between)
