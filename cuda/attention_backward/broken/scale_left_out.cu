// SPDX-License-Identifier: Apache-2.0
// FAULT: dQ is the sum of dS K, not multiplied by the scale.
// Caught by: the bound, on any fill with head_dim > 1; dK and dV are right.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, scale_left_out) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float d_query(float sum, float) { return sum; }
};
KERNEL_FROM(attention_backward, plain, Wrong);

}  // namespace assay::ROOM(attention_backward, scale_left_out)
