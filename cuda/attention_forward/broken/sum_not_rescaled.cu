// SPDX-License-Identifier: Apache-2.0
// FAULT: when a larger score comes, the output is scaled down and the sum of weights is not.
// Caught by: T1, wherever the first key's score is not the largest; right with one key, and where scores are equal or fall.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, sum_not_rescaled) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float shrunk_sum(float sum, float) { return sum; }
};
KERNEL_FROM(attention_forward, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(attention_forward, sum_not_rescaled)
