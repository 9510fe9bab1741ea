// SPDX-License-Identifier: Apache-2.0
// FAULT: exp of the score as it is, the maximum forgotten. Right while every exp and their sum stay within f32.
// Caught by: the class of the result on large_scores, where exp overflows, and the bound on all_far_below_zero.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, maximum_not_subtracted) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float base(float) { return 0; }
};
KERNEL_FROM(attention_scores, plain, Wrong);

}  // namespace assay::ROOM(attention_scores, maximum_not_subtracted)
