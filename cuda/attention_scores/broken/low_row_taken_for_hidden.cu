// SPDX-License-Identifier: Apache-2.0
// FAULT: a maximum below -10,000 is taken for that of a query without keys: rows of large negative scores become zeros.
// Caught by: T1, on lowest_scores.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, low_row_taken_for_hidden) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float base(float max) { return max < -1e4f ? 0.0f : max; }
};
KERNEL_FROM(attention_scores, plain, Wrong);

}  // namespace assay::ROOM(attention_scores, low_row_taken_for_hidden)
