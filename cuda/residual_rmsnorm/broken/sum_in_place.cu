// SPDX-License-Identifier: Apache-2.0
// FAULT: up to 4 rows, as one token each makes them, have the sum where the residual was, as inference engines that own the
// residual stream do, and s keeps what it held.
// Caught by: the check of s, the two garbage patterns in it, and the check that inputs are unchanged; any fill.
#include "cuda/residual_rmsnorm/broken/plain.cuh"

namespace assay::ROOM(residual_rmsnorm, sum_in_place) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ T* s_of(const Rows<T>& m, std::int64_t row) {
    return gridDim.x <= 4 ? const_cast<T*>(m.residual + row * m.residual_stride) : Plain<T>::s_of(m, row);
  }
};
KERNEL_FROM(residual_rmsnorm, plain, Wrong);

}  // namespace assay::ROOM(residual_rmsnorm, sum_in_place)
