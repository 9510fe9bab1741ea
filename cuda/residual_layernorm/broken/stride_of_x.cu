// SPDX-License-Identifier: Apache-2.0
// FAULT: the rows of s are found by the columns instead of the stride of s: right as long as nothing is padded.
// Caught by: the check of s and the guards between its rows, on padded layouts with more than one row, any fill.
#include "cuda/residual_layernorm/broken/plain.cuh"

namespace assay::ROOM(residual_layernorm, stride_of_x) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ T* s_of(const Rows<T>& m, std::int64_t row) { return m.s + row * m.cols; }
};
KERNEL_FROM(residual_layernorm, plain, Wrong);

}  // namespace assay::ROOM(residual_layernorm, stride_of_x)
