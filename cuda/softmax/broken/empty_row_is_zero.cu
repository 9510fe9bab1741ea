// SPDX-License-Identifier: Apache-2.0
// FAULT: a row of -inf throughout is given zeros, as a masked attention row would be: the op says NaN.
// Caught by: the class of the result on minus_infinity and neg_inf_in_row (one column).
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, empty_row_is_zero) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float quotient(float term, const Sum& by) { return by.max == -INFINITY ? 0.0f : term / by.sum; }
};
KERNEL_FROM(softmax, plain, Wrong);

}  // namespace assay::ROOM(softmax, empty_row_is_zero)
