// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum of squares is not divided by the columns: an L2 norm.
// Caught by: the bound, on any fill with more than one column whose rows are not all zero.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, sum_for_mean) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float inverse(const Rows<T>& m, float squares) { return 1.0f / sqrtf(squares + m.epsilon); }
};
KERNEL_FROM(rmsnorm, plain, Wrong);

}  // namespace assay::ROOM(rmsnorm, sum_for_mean)
