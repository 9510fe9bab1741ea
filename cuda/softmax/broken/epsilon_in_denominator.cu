// SPDX-License-Identifier: Apache-2.0
// FAULT: 1e-6 is added to the sum, against a division by zero that cannot happen: the sum is at least 1.
// Caught by: the exact probe probe_hot in f32, where y is a power of two; a bound on a sum of many terms does not see it.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, epsilon_in_denominator) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float quotient(float term, const Sum& by) { return term / (by.sum + 1e-6f); }
};
KERNEL_FROM(softmax, plain, Wrong);

}  // namespace assay::ROOM(softmax, epsilon_in_denominator)
