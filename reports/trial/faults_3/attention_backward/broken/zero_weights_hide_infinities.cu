// SPDX-License-Identifier: Apache-2.0
// FAULT: a pair whose weight is zero is skipped, also where dO V^T is infinite or NaN.
// Kind: ranges
// Shows: visible pairs whose weight underflows and whose V or dO is not finite.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, zero_weights_hide_infinities) {

template <class T>
struct ZeroSkipped : Plain<T> {
  static __device__ float d_score(const Problem<T>&, int, int, float weight, float g, float d) {
    return weight == 0 ? 0.0f : weight * (g - d);
  }
};
KERNEL_FROM(attention_backward, plain, ZeroSkipped);

}  // namespace assay::ROOM(attention_backward, zero_weights_hide_infinities)
