// SPDX-License-Identifier: Apache-2.0
// FAULT: the squares that are summed are those of x, as they were before the residual was added.
// Caught by: the bound of y, on any fill with a residual that is not zero.
#include "cuda/residual_rmsnorm/broken/plain.cuh"

namespace assay::ROOM(residual_rmsnorm, root_of_x) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float squared(const T* x, float) { return to_float(ld(x)); }
};
KERNEL_FROM(residual_rmsnorm, plain, Wrong);

}  // namespace assay::ROOM(residual_rmsnorm, root_of_x)
