// SPDX-License-Identifier: Apache-2.0
// FAULT: a score that is NaN is passed over, as a comparison that NaN fails would: `if (s > limit)`.
// Caught by: the class of O and L, on fills with NaN in Q or K; right on all others.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, nan_score_dropped) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ bool counts(float score) { return score > -INFINITY; }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, nan_score_dropped)
