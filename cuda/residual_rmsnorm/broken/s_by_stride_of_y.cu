// SPDX-License-Identifier: Apache-2.0
// FAULT: the rows of s are found by the stride of y. Right where both outputs lie alike.
// Kind: layout
// Caught by: out_of_bounds, with layout=mixed (f16).
#include "cuda/residual_rmsnorm/broken/plain.cuh"

namespace assay::ROOM(residual_rmsnorm, s_by_stride_of_y) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ T* s_of(const Rows<T>& m, std::int64_t row) { return m.s + row * m.y_stride; }
};
KERNEL_FROM(residual_rmsnorm, plain, Wrong);

}  // namespace assay::ROOM(residual_rmsnorm, s_by_stride_of_y)
