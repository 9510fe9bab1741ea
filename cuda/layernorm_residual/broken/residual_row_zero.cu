// SPDX-License-Identifier: Apache-2.0
// FAULT: residual is not advanced to the row: every row gets the first row of it.
// Caught by: the bound, on any fill whose rows differ, with more than one row.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, residual_row_zero) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static void advance(Rows<T>& m, std::int64_t row) {
    m.x += row * m.x_stride;
    m.y += row * m.y_stride;
  }
};
KERNEL_FROM(layernorm_residual, plain, Wrong);

}  // namespace assay::ROOM(layernorm_residual, residual_row_zero)
