// SPDX-License-Identifier: Apache-2.0
// FAULT: a weight whose score is more than 12 below the maximum so far is taken to be zero.
// Kind: cheats
// Shows: many keys that are 12 and more below the maximum, in f32 and in L.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, far_weights_taken_as_zero) {

template <class T>
struct Near : Plain<T> {
  static __device__ float exponential(const Problem<T>&, float v) { return v < -12.0f ? 0.0f : expf(v); }
};
KERNEL_FROM(attention_forward, plain, Near);

}  // namespace assay::ROOM(attention_forward, far_weights_taken_as_zero)
