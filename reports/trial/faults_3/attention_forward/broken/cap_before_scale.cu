// SPDX-License-Identifier: Apache-2.0
// FAULT: a softcap is applied to the dot product, and the capped value is scaled.
// Kind: combinations
// Shows: a softcap, with a scale other than 1.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, cap_before_scale) {

template <class T>
struct CapFirst : Plain<T> {
  static __device__ float score(const Problem<T>& p, float dot) { return p.cap > 0 ? dot : dot * p.scale; }
  static __device__ float softcapped(const Problem<T>& p, float s) {
    return p.cap > 0 ? p.cap * tanhf(s / p.cap) * p.scale : s;
  }
};
KERNEL_FROM(attention_forward, plain, CapFirst);

}  // namespace assay::ROOM(attention_forward, cap_before_scale)
