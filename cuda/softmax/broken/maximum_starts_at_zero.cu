// SPDX-License-Identifier: Apache-2.0
// FAULT: the maximum starts at 0 instead of -inf. Right where a row has a value above zero, and while exp does not
// underflow.
// Caught by: the class of the result on all_far_below_zero: 0 / 0.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, maximum_starts_at_zero) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float first_maximum() { return 0; }
};
KERNEL_FROM(softmax, plain, Wrong);

}  // namespace assay::ROOM(softmax, maximum_starts_at_zero)
