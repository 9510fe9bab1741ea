// SPDX-License-Identifier: Apache-2.0
// FAULT: the softcap is applied to the product of query and key, and its result is scaled.
// Kind: algorithm
// Shows: a softcap, with a scale other than one.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, cap_before_scale) {

template <class T>
struct Steps : Turned<T> {
  static __device__ float score(const Problem<T>& p, float dot) { return p.cap > 0 ? dot : dot * p.scale; }
  static __device__ float softcapped(const Problem<T>& p, float s) {
    return p.cap > 0 ? p.scale * (p.cap * tanhf(s / p.cap)) : s;
  }
};
KERNEL_FROM(attention_forward, plain, Steps);

}  // namespace assay::ROOM(attention_forward, cap_before_scale)
