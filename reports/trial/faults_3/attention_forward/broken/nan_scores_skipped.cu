// SPDX-License-Identifier: Apache-2.0
// FAULT: a score that is NaN is passed over like a hidden key.
// Kind: ranges
// Shows: queries with a NaN in Q, or visible keys with a NaN in K.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, nan_scores_skipped) {

template <class T>
struct NoNaN : Plain<T> {
  static __device__ bool counts(float score) { return score == score; }
};
KERNEL_FROM(attention_forward, plain, NoNaN);

}  // namespace assay::ROOM(attention_forward, nan_scores_skipped)
