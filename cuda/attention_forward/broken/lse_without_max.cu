// SPDX-License-Identifier: Apache-2.0
// FAULT: L is the logarithm of the sum of weights, to which the maximum was not added; O is right.
// Caught by: the bound on L, on any fill whose largest score is not about zero.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, lse_without_max) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float lse(float, float sum) { return sum == 0 ? -INFINITY : logf(sum); }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, lse_without_max)
