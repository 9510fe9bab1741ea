// SPDX-License-Identifier: Apache-2.0
// FAULT: Q K^T is not scaled. Right for one channel, where the usual scale is 1, and where all scores are 0.
// Caught by: T1, on any random fill with more channels.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, scale_missing) {

KERNEL(attention_forward) = plain_traits({f16, f32});

template <class T>
struct Wrong : Steps<T> {
  static __device__ float score(const Problem<T>& p, float dot) { return Steps<T>::softcapped(p, dot); }
};

void run(const attention_forward::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, scale_missing)
