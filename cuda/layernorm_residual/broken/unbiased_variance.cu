// SPDX-License-Identifier: Apache-2.0
// FAULT: the squares are divided by cols - 1, as statistics packages do: a share 1/(2 cols) of the result.
// Caught by: the bound, on any random fill, the plainer the fewer the columns (2, 17), and as NaN where cols = 1 gives 0/0;
// hidden by the error of the mean on large_mean with thousands of columns.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, unbiased_variance) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float variance(const Rows<T>& m, float squares) { return squares / static_cast<float>(m.cols - 1); }
};
KERNEL_FROM(layernorm_residual, plain, Wrong);

}  // namespace assay::ROOM(layernorm_residual, unbiased_variance)
