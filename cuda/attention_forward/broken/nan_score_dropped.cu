// SPDX-License-Identifier: Apache-2.0
// FAULT: a score that is NaN is passed over, as a comparison that NaN fails would: `if (s > limit)`.
// Caught by: the class of O and L, on fills with NaN in Q or K; right on all others.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, nan_score_dropped) {

KERNEL(attention_forward) = plain_traits({f16, bf16, f32});

template <class T>
struct Wrong : Steps<T> {
  static __device__ bool counts(float score) { return score > -INFINITY; }
};

void run(const attention_forward::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, nan_score_dropped)
