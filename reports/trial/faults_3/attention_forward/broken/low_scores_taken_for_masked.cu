// SPDX-License-Identifier: Apache-2.0
// FAULT: a score of -10000 or less is taken for one that a mask has hidden.
// Kind: ranges
// Shows: queries whose scores are all that low: O = 0 in place of an average, L = -inf.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, low_scores_taken_for_masked) {

template <class T>
struct LowIsMasked : Plain<T> {
  static __device__ bool counts(float score) { return !(score <= -1e4f); }
};
KERNEL_FROM(attention_forward, plain, LowIsMasked);

}  // namespace assay::ROOM(attention_forward, low_scores_taken_for_masked)
