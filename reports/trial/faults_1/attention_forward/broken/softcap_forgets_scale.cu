// SPDX-License-Identifier: Apache-2.0
// FAULT: with a softcap the scale is always 1/sqrt(head_dim), whatever the attribute says.
// Kind: combinations
// Shows: softcap together with a scale of its own.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, softcap_forgets_scale) {

template <class T>
struct Forgets : Plain<T> {
  static __device__ float score(const Problem<T>& p, float dot) {
    return dot * (p.cap > 0 ? 1.0f / sqrtf(static_cast<float>(p.dim)) : p.scale);
  }
};

KERNEL_FROM(attention_forward, plain, Forgets);

}  // namespace assay::ROOM(attention_forward, softcap_forgets_scale)
