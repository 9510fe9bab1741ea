// SPDX-License-Identifier: Apache-2.0
// FAULT: with rope the scores are scaled by 1 / sqrt(head_dim), whatever scale is asked for.
// Kind: combinations
// Shows: rope together with a scale.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, explicit_scale_lost_with_rope) {

template <class T>
struct Steps : Turned<T> {
  static __device__ float score(const Problem<T>& p, float dot) {
    return p.rope.rotary > 0 ? dot * (1.0f / sqrtf(static_cast<float>(p.dim))) : dot * p.scale;
  }
};
KERNEL_FROM(attention_forward, plain, Steps);

}  // namespace assay::ROOM(attention_forward, explicit_scale_lost_with_rope)
