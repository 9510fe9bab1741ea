// SPDX-License-Identifier: Apache-2.0
// FAULT: when a larger score comes, the sum of weights is scaled down and the output is not.
// Caught by: the bound wherever the first key's score is not the largest; right with one key, and where scores are equal or fall.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, output_not_rescaled) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float shrunk_output(float o, float) { return o; }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, output_not_rescaled)
