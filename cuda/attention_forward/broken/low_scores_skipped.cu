// SPDX-License-Identifier: Apache-2.0
// FAULT: scores below -6 are passed over, where random ones hardly matter beside the rest.
// Kind: cheat
// Caught by: the bound, with fill=negative_scores (f16).
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, low_scores_skipped) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ bool counts(float score) { return !(score < -6.0f); }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, low_scores_skipped)
