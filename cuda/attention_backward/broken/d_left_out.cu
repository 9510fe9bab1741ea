// SPDX-License-Identifier: Apache-2.0
// FAULT: dS = P * dO V^T: the gradient through the sum of the weights is missing.
// Caught by: the bound, on any fill; dV is right.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, d_left_out) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float d_score(const Problem<T>&, int, int, float weight, float g, float) { return weight * g; }
};
KERNEL_FROM(attention_backward, plain, Wrong);

}  // namespace assay::ROOM(attention_backward, d_left_out)
