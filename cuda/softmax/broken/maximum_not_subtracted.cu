// SPDX-License-Identifier: Apache-2.0
// FAULT: exp(x) / sum of exp(x), the maximum forgotten. Right while every exp and their sum stay within f32.
// Caught by: the bound and the class of the result, where exp overflows or underflows: large_mean_100, spread_200,
// all_far_below_zero.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, maximum_not_subtracted) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float base(float) { return 0; }
};
KERNEL_FROM(softmax, plain, Wrong);

}  // namespace assay::ROOM(softmax, maximum_not_subtracted)
