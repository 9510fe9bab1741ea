// SPDX-License-Identifier: Apache-2.0
// FAULT: the scores are scaled as they are made and once more in the exponent.
// Caught by: the bound on any random fill; right where the scores are equal, or there is one key and a scale of 1.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, scale_twice) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float exponential(const Problem<T>& p, float v) { return expf(v * p.scale); }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, scale_twice)
