// SPDX-License-Identifier: Apache-2.0
// FAULT: rows of residual and y are found by cols instead of their strides: right as long as nothing is padded.
// Caught by: the bound and the guards between rows, on padded layouts with more than one row, any fill.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, wrong_row_stride) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static void advance(Rows<T>& m, std::int64_t row) {
    m.x += row * m.x_stride;
    m.residual += row * m.cols;
    m.y += row * m.cols;
  }
};
KERNEL_FROM(layernorm_residual, plain, Wrong);

}  // namespace assay::ROOM(layernorm_residual, wrong_row_stride)
