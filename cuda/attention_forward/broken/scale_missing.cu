// SPDX-License-Identifier: Apache-2.0
// FAULT: Q K^T is not scaled. Right for one channel, where the usual scale is 1, and where all scores are 0.
// Caught by: T1, on any random fill with more channels.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, scale_missing) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float score(const Problem<T>&, float dot) { return dot; }
};
KERNEL_FROM(attention_forward, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(attention_forward, scale_missing)
